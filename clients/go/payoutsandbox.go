// Package payoutsandbox is a client of payout-sandbox for tests. It uses the standard library only.
//
//	func TestMain(m *testing.M) { os.Exit(payoutsandbox.Run(m)) }
package payoutsandbox

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Object is a JSON object.
type Object = map[string]any

// Error is a call that the sandbox rejected. Code is an error code of docs/errors.md.
type Error struct {
	Code    string `json:"error"`
	Message string `json:"message"`
	Errors  []struct{ Field, Message string }
}

func (e *Error) Error() string {
	text := e.Message
	for _, one := range e.Errors {
		if len(e.Errors) > 1 {
			text += "\n" + one.Field + ": " + one.Message
		}
	}
	return text
}

const hint = "set PAYOUT_SANDBOX_BIN to the path of payout-sandbox, or PAYOUT_SANDBOX_URL to a running sandbox"

// The sandbox that Run found or started.
var serviceURL, adminToken string

func root() string {
	return strings.TrimSuffix(strings.TrimRight(strings.Split(serviceURL, "/@")[0], "/"), "/v1")
}

func random() string {
	bytes := make([]byte, 16)
	if _, err := rand.Read(bytes); err != nil {
		panic(err)
	}
	return fmt.Sprintf("%x", bytes)
}

// Run runs the tests of a package with the sandbox at PAYOUT_SANDBOX_URL. If that is not set, it starts one with these
// options: in memory, on a free port, with a frozen clock. Call it in TestMain.
func Run(m *testing.M, options ...string) int {
	if url := os.Getenv("PAYOUT_SANDBOX_URL"); url != "" {
		serviceURL, adminToken = url, os.Getenv("PAYOUT_SANDBOX_ADMIN_TOKEN")
		if err := (&World{base: root()}).Call("GET /__admin/health", nil); err != nil {
			log.Fatalf("found no sandbox at PAYOUT_SANDBOX_URL=%s (%v): start one there, or unset the variable", url, err)
		}
		return m.Run()
	}
	program := os.Getenv("PAYOUT_SANDBOX_BIN")
	if program == "" {
		program = "payout-sandbox"
	}
	process := exec.Command(program, append([]string{"start", "--memory", "--port", "0", "--json", "--stop-with-stdin"}, options...)...)
	process.Env = append([]string{"PAYOUT_SANDBOX_CLOCK=frozen", "PAYOUT_SANDBOX_LOG_LEVEL=warn"}, os.Environ()...)
	process.Stderr = struct{ io.Writer }{os.Stderr} // go test waits for all that have its own stderr
	stdin, _ := process.StdinPipe()
	stdout, _ := process.StdoutPipe()
	if err := process.Start(); err != nil {
		log.Fatalf("cannot run %s (%v): %s", program, err, hint)
	}
	var ready struct {
		URL        string
		AdminToken string `json:"admin_token"`
	}
	if err := json.NewDecoder(stdout).Decode(&ready); err == io.EOF {
		process.Wait()
		log.Fatalf("%s ended with %v: see its message", program, process.ProcessState)
	} else if err != nil {
		process.Process.Kill()
		log.Fatalf("%s printed something that is not JSON (%v): %s", program, err, hint)
	}
	defer process.Wait()
	defer stdin.Close() // this stops it
	serviceURL, adminToken = ready.URL, ready.AdminToken
	return m.Run()
}

// NewWorld returns a world for this test alone, with a frozen clock. It is deleted at the end of the test. A call of the
// world that fails ends the test.
func NewWorld(t testing.TB) *World {
	t.Helper()
	if serviceURL == "" {
		t.Fatal("no sandbox: call payoutsandbox.Run in TestMain")
	}
	name := "go-" + random()
	base := root() + "/@" + name
	world := &World{t, base, base + "/v1", "sbx_" + name}
	world.Freeze()
	t.Cleanup(func() { world.must("DELETE /__admin/clients/"+name, nil) })
	return world
}

// World is one client of a sandbox. It shares no users, payments, clock, scenario or webhook with other worlds.
type World struct {
	t                testing.TB
	base, URL, Token string // URL and Token are for the code under test
}

// Call makes a call such as "GET /__admin/clock" in this world, and reads the response into result, if there is one.
// It returns *Error if the sandbox rejects the call.
func (w *World) Call(call string, body any, result ...any) error {
	method, path, _ := strings.Cut(call, " ")
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, w.base+path, bytes.NewReader(content))
	if err != nil {
		return err
	}
	request.Header = http.Header{"Authorization": {"Bearer " + w.Token}, "X-Admin-Token": {adminToken}, "Content-Type": {"application/json"}}
	response, err := (&http.Client{Timeout: 2 * time.Minute}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		rejected := &Error{Message: response.Status}
		_ = json.NewDecoder(response.Body).Decode(rejected)
		return rejected
	}
	for _, one := range result {
		err = json.NewDecoder(response.Body).Decode(one)
	}
	return err
}

func (w *World) must(call string, body any, result ...any) {
	w.t.Helper()
	if err := w.Call(call, body, result...); err != nil {
		w.t.Fatal(err)
	}
}

// Reset restores fixtures, clock and scenario.
func (w *World) Reset() { w.t.Helper(); w.must("POST /__admin/reset", Object{}) }

// Freeze stops the clock.
func (w *World) Freeze() { w.t.Helper(); w.must("POST /__admin/clock/freeze", Object{}) }

// Resume lets the clock run, for code that polls: with a speed of 60, a minute takes a second. 0 keeps the speed it had.
func (w *World) Resume(speed float64) {
	w.t.Helper()
	w.must("POST /__admin/clock/resume", Object{})
	if speed != 0 {
		w.must("POST /__admin/clock/speed", Object{"factor": speed})
	}
}

// Advance moves the clock. It returns the time of the clock when all has settled.
func (w *World) Advance(by time.Duration) time.Time {
	w.t.Helper()
	var result struct{ Now time.Time }
	w.must("POST /__admin/clock/advance", Object{"by": fmt.Sprintf("%dms", by.Milliseconds())}, &result)
	return result.Now
}

// Scenario activates a scenario.
func (w *World) Scenario(name string) {
	w.t.Helper()
	w.must("PUT /__admin/scenario", Object{"name": name})
}

// Rule puts a rule before the scenario, in the form of docs/scenarios.md.
func (w *World) Rule(rule Object) { w.t.Helper(); w.must("POST /__admin/rules", rule) }

// Assume chooses readings of docs/assumptions.md; nil undoes a choice.
func (w *World) Assume(readings Object) { w.t.Helper(); w.must("PUT /__admin/assumptions", readings) }

// Verify fails the test unless exactly this number of calls match.
func (w *World) Verify(match Object, exactly int) {
	w.t.Helper()
	w.must("POST /__admin/requests/verify", Object{"match": match, "exactly": exactly})
}

// VerifyAtLeast fails the test unless at least this number of calls match.
func (w *World) VerifyAtLeast(match Object, count int) {
	w.t.Helper()
	w.must("POST /__admin/requests/verify", Object{"match": match, "at_least": count})
}

// Wait returns a "request", "transaction", "kyc" or "delivery" as soon as one matches. With one more duration it moves a
// frozen clock on meanwhile, by at most that.
func (w *World) Wait(what string, match Object, timeout time.Duration, advance ...time.Duration) Object {
	w.t.Helper()
	var result Object
	body := Object{"for": what, "match": match, "timeout_ms": timeout.Milliseconds()}
	for _, by := range advance {
		body["advance"] = fmt.Sprintf("%dms", by.Milliseconds())
	}
	w.must("POST /__admin/wait", body, &result)
	return result[what].(Object)
}

// Reconcile compares your books with what really happened, or with the bank's statement of a day, or from one to another.
func (w *World) Reconcile(rows []Object, days ...string) (result Object) {
	w.t.Helper()
	body := Object{"rows": rows}
	if len(days) > 0 {
		body["from"], body["to"] = days[0], days[len(days)-1]
	}
	w.must("POST /__admin/reconcile", body, &result)
	return result
}

// Save saves the state as a snapshot.
func (w *World) Save(name string) {
	w.t.Helper()
	w.must("POST /__admin/snapshots", Object{"name": name})
}

// Restore goes back to a snapshot.
func (w *World) Restore(name string) {
	w.t.Helper()
	w.must("POST /__admin/snapshots/"+name+"/restore", Object{})
}

// Diff returns what was "added", "removed" and "changed" since a snapshot, by table.
func (w *World) Diff(name string) map[string]map[string][]any {
	w.t.Helper()
	var result struct{ Tables map[string]map[string][]any }
	w.must("GET /__admin/snapshots/"+name+"/diff", nil, &result)
	return result.Tables
}

// VerifyWebhook says why a webhook is not genuine or not new. The body is what io.ReadAll(r.Body) returned.
func VerifyWebhook(h http.Header, body []byte, secret string) error {
	timestamp := h.Get("webhook-timestamp")
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(h.Get("webhook-id") + "." + timestamp + "."))
	mac.Write(body)
	right := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	genuine := false
	for _, given := range strings.Split(h.Get("webhook-signature"), " ") {
		genuine = hmac.Equal(right, []byte(given)) || genuine
	}
	if !genuine {
		return errors.New("the signature does not fit")
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	age := time.Since(time.Unix(seconds, 0))
	if err != nil || age > 5*time.Minute || age < -5*time.Minute {
		return errors.New("the timestamp is too old or too new")
	}
	return nil
}

// Receive registers a receiver as the webhook of this client, until the test ends. It calls handle with each genuine
// event, and with the error of each other webhook, one at a time. The result of handle is the status of the response.
func (w *World) Receive(handle func(event Object, err error) int) {
	w.t.Helper()
	secret, mutex := random(), sync.Mutex{}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		var event Object
		body, err := io.ReadAll(in.Body)
		if err == nil {
			err = VerifyWebhook(in.Header, body, secret)
		}
		if err == nil {
			err = json.Unmarshal(body, &event)
		}
		mutex.Lock()
		defer mutex.Unlock()
		out.WriteHeader(handle(event, err))
	}))
	w.t.Cleanup(server.Close)
	w.RegisterWebhook(server.URL, secret)
}

// RegisterWebhook registers the webhook of this client.
func (w *World) RegisterWebhook(url, secret string) {
	w.t.Helper()
	w.must("POST /v1/clientWebhook", Object{"url": url, "webhook_secret": secret})
}
