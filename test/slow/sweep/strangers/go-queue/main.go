// Pays suppliers' bills from a folder with a file for each bill. Processes that share the folder share the work: a worker locks a
// bill, looks for its payment, pays and books; a webhook settles, and polls catch what it misses.
//
//	queue-worker.sh run    works until all bills have ended; start it twice with one JOBS_DIR, as two pods do
//	queue-worker.sh books  prints the books of JOBS_DIR as CSV, a row for each bill; booked is the sum of its ledger lines
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	tries  = 12
	quiet  = 60 * time.Second // then a payment without a response is in the history, or isn't made
	secret = "bills-secret"
	payer  = "00000000-0000-4000-8000-000000000001"
)

var (
	bug     = os.Getenv("BUG")
	service = os.Getenv("PAYOUT_SANDBOX_URL")
	client  = http.Client{Timeout: 4 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	clock   = http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	bills   = []struct {
		reference, payee string
		paise            int
	}{{"bill-701", "03", 410020}, {"bill-702", "04", 31075}, {"bill-703", "02", 76549}}
)

type line struct {
	Kind  string
	Paise int
}

type bill struct {
	Reference, Payee, Sent, State, ID, UTR string
	Paise, Attempts, Version               int
	Events                                 []string
	Lines                                  []line
}

type failure struct {
	call    string
	status  int
	wait    time.Duration
	because error
}

func (f *failure) Error() string { return fmt.Sprintf("%s: %d %v", f.call, f.status, f.because) }
func (f *failure) refused() bool { return f.status == 400 || f.status == 404 || f.status == 422 }

// pause waits at a point that PAUSE names, as in PAUSE=lookup=500ms,poll=1s, which makes a race likely.
func pause(point string) {
	for _, one := range strings.Split(os.Getenv("PAUSE"), ",") {
		if name, wait, _ := strings.Cut(one, "="); name == point {
			length, _ := time.ParseDuration(wait)
			time.Sleep(length)
		}
	}
}

func call(with *http.Client, method, url string, body, result any) error {
	failed := &failure{call: method + " " + url}
	sent, _ := json.Marshal(body)
	request, _ := http.NewRequest(method, url, bytes.NewReader(sent))
	request.GetBody = nil // so that a broken connection never resends a payment
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PAYOUT_SANDBOX_TOKEN"))
	request.Header.Set("X-Admin-Token", os.Getenv("PAYOUT_SANDBOX_ADMIN_TOKEN"))
	response, err := with.Do(request)
	if err != nil {
		failed.because = err
		return failed
	}
	defer response.Body.Close()
	failed.status = response.StatusCode
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	failed.wait = time.Duration(seconds) * time.Second
	text, err := io.ReadAll(response.Body)
	if response.StatusCode < 300 && err == nil {
		if err = json.Unmarshal(text, result); err == nil {
			return nil
		}
		failed.status = 0
	}
	failed.because = err
	return failed
}

// sleep is the tests' sleep: it moves the clock of the sandbox.
func sleep(length time.Duration) {
	for try := 0; try < 3; try++ {
		body := map[string]string{"by": fmt.Sprintf("%dms", length.Milliseconds())}
		if call(&clock, "POST", os.Getenv("PAYOUT_SANDBOX_ADMIN_URL")+"/clock/advance", body, &struct{}{}) == nil {
			return
		}
	}
	panic("the clock doesn't move")
}

// again repeats a call that is safe to repeat.
func again(operation func() error) error {
	for try := 0; ; try++ {
		err := operation()
		var failed *failure
		if err == nil || errors.As(err, &failed) && failed.refused() || try == tries {
			return err
		}
		length := time.Duration(math.Min(30, math.Pow(2, float64(try)))) * time.Second
		if failed != nil && failed.wait > length {
			length = failed.wait
		}
		sleep(length)
	}
}

type record struct {
	Reference string `json:"client_transaction_id"`
	Amount    string
	Status    string
	UTR       string
}

func history() (found []record, err error) {
	for page, last := 1, 1; page <= last; page++ {
		var answer struct {
			Data *struct {
				Total        int `json:"total_transactions"`
				Limit        int
				Transactions []record
			}
		}
		err = again(func() error {
			url := fmt.Sprintf("%s/transaction/history?type=debit&limit=100&page=%d", service, page)
			err := call(&client, "GET", url, nil, &answer)
			if err == nil && (answer.Data == nil || answer.Data.Limit == 0) {
				return errors.New("the history is empty")
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		last = (answer.Data.Total + answer.Data.Limit - 1) / answer.Data.Limit
		found = append(found, answer.Data.Transactions...)
	}
	return found, nil
}

type payment struct {
	ID        string `json:"transaction_id"`
	Reference string `json:"reference_id"`
	Status    string `json:"transaction_status"`
	Amount    string
	UTR       string
}

type desk struct {
	folder string
	calls  sync.WaitGroup
}

func (d *desk) path(reference, ending string) string {
	return filepath.Join(d.folder, reference+ending)
}

// lock locks a file until unlock or the end of the process; without waiting it returns nil if another worker has it.
func lock(path string, how int) (unlock func()) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		panic(err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), how)
		if err == nil {
			return func() { file.Close() }
		}
		if err != syscall.EINTR {
			file.Close()
			return nil
		}
	}
}

func (d *desk) read(reference string) (one bill) {
	text, err := os.ReadFile(d.path(reference, ".json"))
	if err != nil {
		return bill{}
	}
	if err = json.Unmarshal(text, &one); err != nil {
		panic(err)
	}
	return one
}

// update changes a bill's file; nobody else changes it meanwhile.
func (d *desk) update(reference string, change func(*bill)) {
	defer lock(d.path(reference, ".row"), syscall.LOCK_EX)()
	one := d.read(reference)
	change(&one)
	text, _ := json.Marshal(one)
	fresh := d.path(reference, ".fresh")
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(fresh, d.path(reference, ".json")); err != nil {
		panic(err)
	}
}

func (d *desk) all() (found []bill) {
	for _, one := range bills {
		found = append(found, d.read(one.reference))
	}
	return found
}

func (b bill) isDue() bool { return b.State == "new" || b.State == "sending" || b.State == "unknown" }

func (b bill) paid(amount string) int {
	if bug != "rupees_without_event" {
		return b.Paise
	}
	whole, _ := strconv.ParseFloat(amount, 64)
	return int(whole) * 100
}

func plain(word string) string {
	switch word = strings.ToLower(word); word {
	case "success", "failed":
		return word
	}
	return "pending"
}

// apply moves a bill forward, and books what the step moves.
func (b *bill) apply(word, utr string, paise int) {
	b.Version++
	if utr != "" {
		b.UTR = utr
	}
	book := func(kind string, paise int) { b.Lines = append(b.Lines, line{kind, paise}) }
	settled := b.State == "success" || b.State == "failed" || b.State == "returned"
	switch word = plain(word); {
	case word == "pending" && !settled:
		b.State = "pending"
	case word == "success" && b.State != "success":
		b.State = "success"
		if bug != "booked_before_paid" {
			book("paid", paise)
		}
	case word == "failed" && b.State == "success":
		b.State = "returned"
		book("returned", -paise)
	case word == "failed" && !settled && utr != "": // only money that has moved has a UTR
		b.State = "returned"
		book("paid", paise)
		book("returned", -paise)
	case word == "failed" && !settled:
		b.State = "failed"
	}
}

// Worker number k takes a bill first, and worker 1-k if that went wrong.
func (d *desk) work(worker int) {
	for isOpen := true; isOpen; {
		isOpen = false
		for index, one := range d.all() {
			if !one.isDue() {
				continue
			}
			isOpen = true
			if (index+one.Attempts)%2 == worker {
				d.take(one.Reference, worker)
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (d *desk) take(reference string, worker int) {
	unlock := func() {}
	if bug != "claim_after_dispatch" {
		if unlock = lock(d.path(reference, ".claim"), syscall.LOCK_EX|syscall.LOCK_NB); unlock == nil {
			return
		}
	}
	defer unlock()
	one := d.read(reference)
	if !one.isDue() {
		return
	}
	var failed *failure
	if err := d.pay(one, worker); errors.As(err, &failed) {
		d.update(reference, func(b *bill) {
			if b.Attempts++; !b.isDue() {
				return
			}
			b.State = "unknown"
			if failed.refused() && strings.HasPrefix(failed.call, "POST") {
				b.State = "rejected"
			} else if b.Attempts > tries {
				b.State = "stuck"
			}
		})
		if failed.wait > 0 {
			sleep(failed.wait)
		}
	} else if err != nil {
		d.update(reference, func(b *bill) { b.State, b.Attempts = "stuck", b.Attempts+1 })
	}
}

func (d *desk) find(one bill, sent string) (*record, error) {
	rows, err := history()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Reference == sent {
			return &row, nil
		}
	}
	amount := rupees(one.Paise)
	for _, row := range rows {
		if one.State != "new" && row.Amount == amount && !strings.HasPrefix(row.Reference, "bill-") {
			return nil, errors.New("a payment without our reference may be ours: a person must look")
		}
	}
	return nil, nil
}

func (d *desk) pay(one bill, worker int) error {
	sent := one.Reference
	if bug == "reference_per_worker" {
		sent = fmt.Sprintf("%s-worker%d", sent, worker)
	}
	if one.State != "new" {
		sleep(quiet)
	}
	row, err := d.find(one, sent)
	if err != nil {
		return err
	}
	pause("lookup")
	if row != nil {
		d.update(one.Reference, func(b *bill) {
			b.Sent = sent
			b.apply(row.Status, row.UTR, one.paid(row.Amount))
		})
		return nil
	}
	if bug != "claim_after_dispatch" {
		d.update(one.Reference, func(b *bill) {
			b.State, b.Sent = "sending", sent
			if bug == "booked_before_paid" && len(b.Lines) == 0 {
				b.Lines = append(b.Lines, line{"paid", one.Paise})
			}
		})
	}
	made, err := d.send(one, sent)
	if err != nil {
		return err
	}
	pause("response")
	d.update(one.Reference, func(b *bill) {
		b.ID, b.Sent = made.ID, sent
		if b.isDue() {
			b.apply(made.Status, made.UTR, one.Paise)
		}
	})
	return nil
}

func (d *desk) send(one bill, sent string) (payment, error) {
	post := func() (payment, error) {
		var answer struct{ Data []payment }
		body := map[string]any{
			"from_user_id": payer, "to_user_id": "00000000-0000-4000-8000-0000000000" + one.Payee,
			"benif_bank_id": "b0000000-0000-4000-8000-0000000000" + one.Payee,
			"amount":        json.Number(rupees(one.Paise)), "reference_id": sent,
		}
		err := call(&client, "POST", service+"/transaction", body, &answer)
		if err == nil && (len(answer.Data) != 1 || answer.Data[0].ID == "") {
			err = &failure{call: "POST", because: errors.New("no payment in the response")}
		}
		if err != nil {
			return payment{}, err
		}
		return answer.Data[0], nil
	}
	if bug != "retry_beside_slow_first" {
		return post()
	}
	type result struct {
		made payment
		err  error
	}
	results := make(chan result, 2)
	start := func() {
		d.calls.Add(1)
		go func() { defer d.calls.Done(); made, err := post(); results <- result{made, err} }()
	}
	start()
	select {
	case first := <-results:
		return first.made, first.err
	case <-time.After(time.Second): // no answer yet: look, and try a second time beside it
		if row, err := d.find(one, sent); err == nil && row == nil {
			start()
		}
	}
	first := <-results
	return first.made, first.err
}

func (d *desk) poll(reference string) error {
	for {
		one := d.read(reference)
		word, utr, amount := "", "", ""
		if one.ID != "" {
			var answer struct{ Data []payment }
			err := again(func() error { return call(&client, "GET", service+"/transaction/"+one.ID, nil, &answer) })
			var failed *failure
			if errors.As(err, &failed) && failed.status == 404 || err == nil && len(answer.Data) == 0 {
				return nil
			}
			if err != nil {
				return err
			}
			word, utr, amount = answer.Data[0].Status, answer.Data[0].UTR, answer.Data[0].Amount
		} else {
			row, err := d.find(bill{State: "new"}, one.Sent)
			if err != nil || row == nil {
				return err
			}
			word, utr, amount = row.Status, row.UTR, row.Amount
		}
		pause("poll")
		isNews := false
		d.update(reference, func(b *bill) {
			if isNews = b.Version != one.Version; !isNews {
				b.apply(word, utr, b.paid(amount))
			}
		})
		if !isNews { // otherwise what happened meanwhile is newer than the answer: ask again
			return nil
		}
	}
}

func (d *desk) settle() error {
	pace := 5 * time.Second
	for patience := 72 * time.Hour; patience > 0; patience -= pace {
		sleep(pace)
		isOpen := false
		for _, one := range d.all() {
			if one.State != "pending" && (one.State != "success" || one.UTR != "") {
				continue
			}
			isOpen = true
			if err := d.poll(one.Reference); err != nil {
				return err
			}
		}
		if !isOpen {
			break
		}
		if pace *= 2; pace > 6*time.Hour {
			pace = 6 * time.Hour
		}
	}
	sleep(26 * time.Hour) // a day later, returns have come
	for _, one := range d.all() {
		if one.Sent != "" {
			if err := d.poll(one.Reference); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *desk) receive(header http.Header, body []byte) int {
	id, stamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
	right, genuine := []byte("v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))), false
	for _, one := range strings.Fields(header.Get("webhook-signature")) {
		genuine = genuine || hmac.Equal(right, []byte(one))
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if !genuine || err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
		return 401
	}
	var event struct {
		Type string
		Data payment
	}
	if json.Unmarshal(body, &event) != nil {
		return 400
	}
	word := strings.TrimPrefix(event.Type, "transaction.")
	if word != "success" && word != "failed" {
		return 204
	}
	for _, one := range d.all() {
		if one.Sent == "" || one.Sent != event.Data.Reference && one.ID != event.Data.ID {
			continue
		}
		if bug == "events_at_once" {
			if isSeen(one, id) || one.State == "success" && word == "success" {
				return 204
			}
			pause("event")
		}
		d.update(one.Reference, func(b *bill) {
			if bug == "events_at_once" {
				b.State = one.State // what we read above
			} else if bug == "booked_per_event" && word == "success" && b.State == "success" {
				b.Lines = append(b.Lines, line{"paid", b.Paise})
			} else if isSeen(*b, id) {
				return
			}
			b.Events = append(b.Events, id)
			if b.isDue() || b.State == "pending" || b.State == "success" && word == "failed" {
				b.apply(word, event.Data.UTR, b.Paise)
			} // anything else contradicts what we have, and the next poll decides
		})
	}
	return 204
}

func isSeen(one bill, id string) bool {
	for _, seen := range one.Events {
		if seen == id {
			return true
		}
	}
	return false
}

func register(url string) error {
	body := map[string]string{"url": url, "webhook_secret": secret}
	return again(func() error {
		err := call(&client, "POST", service+"/clientWebhook", body, &struct{}{})
		var failed *failure
		if errors.As(err, &failed) && failed.status == 409 {
			return call(&client, "PUT", service+"/clientWebhook", body, &struct{}{})
		}
		return err
	})
}

func rupees(paise int) string {
	sign := ""
	if paise < 0 {
		sign, paise = "-", -paise
	}
	return fmt.Sprintf("%s%d.%02d", sign, paise/100, paise%100)
}

func (d *desk) run() error {
	for _, one := range bills {
		d.update(one.reference, func(b *bill) {
			if b.Reference == "" {
				*b = bill{Reference: one.reference, Payee: one.payee, Paise: one.paise, State: "new"}
			}
		})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			w.WriteHeader(400)
			return
		}
		w.WriteHeader(d.receive(r.Header, body))
	}))
	if err := register(fmt.Sprintf("http://%s/webhook", listener.Addr())); err != nil {
		return err
	}
	var workers sync.WaitGroup
	for worker := 0; worker < 2; worker++ {
		workers.Add(1)
		go func(worker int) { defer workers.Done(); d.work(worker) }(worker)
	}
	workers.Wait()
	d.calls.Wait()
	if err := d.settle(); err != nil {
		return err
	}
	for _, one := range d.all() {
		fmt.Println(one.Reference, one.State)
		if one.State != "success" && one.State != "failed" && one.State != "returned" {
			err = errors.New(one.Reference + " is " + one.State)
		}
	}
	return err
}

func (d *desk) books() error {
	out := csv.NewWriter(os.Stdout)
	out.Write([]string{"reference", "amount", "status", "utr", "booked"})
	for _, one := range d.all() {
		paid, booked := 0, 0
		for _, line := range one.Lines {
			booked += line.Paise
			if line.Kind == "paid" {
				paid += line.Paise
			}
		}
		if paid == 0 {
			paid = one.Paise
		}
		if one.Sent != "" {
			out.Write([]string{one.Sent, rupees(paid), one.State, one.UTR, rupees(booked)})
		}
	}
	out.Flush()
	return out.Error()
}

func main() {
	folder, end := os.Getenv("JOBS_DIR"), func() {}
	if folder == "" {
		folder = os.Getenv("PAYOUT_SANDBOX_RUN_DIR")
	}
	if folder == "" { // all workers of this sandbox share it until the last one ends
		folder = filepath.Join(os.TempDir(), fmt.Sprintf("bills-%x", sha256.Sum256([]byte(service)))[:24])
		unlock := lock(folder+".lock", syscall.LOCK_SH)
		os.MkdirAll(folder, 0o700)
		end = func() {
			unlock()
			if unlock := lock(folder+".lock", syscall.LOCK_EX|syscall.LOCK_NB); unlock != nil {
				os.RemoveAll(folder)
				os.Remove(folder + ".lock")
				unlock()
			}
		}
	}
	d := &desk{folder: folder}
	commands := map[string]func() error{"run": d.run, "books": d.books}
	err := commands[os.Args[1]]()
	end()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
