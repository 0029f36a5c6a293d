package example

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"payoutsandbox"
)

type object = payoutsandbox.Object

// Asha pays Rohan. Both are in the sandbox's example data: see fixtures/README.md.
var payout = Payout{
	From:      "00000000-0000-4000-8000-000000000001",
	To:        "00000000-0000-4000-8000-000000000003",
	Account:   "b0000000-0000-4000-8000-000000000003",
	Amount:    100,
	Reference: "salary-2026-01",
}

func TestMain(m *testing.M) { os.Exit(payoutsandbox.Run(m)) }

func setUp(t *testing.T) (*payoutsandbox.World, *Payouts) {
	t.Parallel()
	return setUpAlone(t)
}

func setUpAlone(t *testing.T) (*payoutsandbox.World, *Payouts) {
	world := payoutsandbox.NewWorld(t)
	return world, &Payouts{URL: world.URL, Token: world.Token, Client: http.Client{Timeout: 5 * time.Second}}
}

func pay(t *testing.T, payouts *Payouts, payout Payout) {
	t.Helper()
	if err := payouts.Pay(payout); err != nil {
		t.Fatal(err)
	}
}

func expectStatus(t *testing.T, payouts *Payouts, expected string) {
	t.Helper()
	if status, err := payouts.Status(payout); err != nil || status != expected {
		t.Fatalf("expected %s, found %q, %v", expected, status, err)
	}
}

func TestAPaymentArrives(t *testing.T) {
	world, payouts := setUp(t)
	pay(t, payouts, payout)
	expectStatus(t, payouts, "PENDING")
	world.Advance(3 * time.Second)
	expectStatus(t, payouts, "SUCCESS")
}

func TestAPaymentOf100_92Fails(t *testing.T) {
	world, payouts := setUp(t)
	failing := payout
	failing.Amount = 100.92
	pay(t, payouts, failing)
	world.Advance(time.Hour)
	expectStatus(t, payouts, "FAILED")
}

func TestAResponseIsLostAndTheMoneyMovesOnce(t *testing.T) {
	world, payouts := setUp(t)
	world.Save("before")
	world.Scenario("lost-responses")
	pay(t, payouts, payout)
	if added := world.Diff("before")["payments"]["added"]; len(added) != 1 {
		t.Fatal(added)
	}
	world.Verify(object{"operation": "createTransaction"}, 1)
}

// What net/http returns if a scenario breaks the response. The payment is made all the same, and Pay pays once.
func TestABrokenResponse(t *testing.T) {
	for fault, expected := range map[string]string{
		"reset":     "connection reset by peer",
		"empty":     "EOF",
		"truncate":  "unexpected EOF",
		"malformed": "invalid character",
		"hang":      "Client.Timeout exceeded while awaiting headers",
	} {
		fault, expected := fault, expected
		t.Run(fault, func(t *testing.T) {
			world, payouts := setUp(t)
			if fault == "hang" {
				payouts.Client.Timeout = time.Second
			}
			profile := object{"operation": "getClientProfile"}
			world.Rule(object{"when": profile, "then": object{"fault": fault}})
			err := payouts.call("GET", "/client/profile", nil, &object{})
			if err == nil || !strings.Contains(err.Error(), expected) {
				t.Fatalf("expected %q, found %v", expected, err)
			}
			if fault == "empty" && !errors.Is(err, io.EOF) || fault == "truncate" && err != io.ErrUnexpectedEOF {
				t.Fatalf("%T %v", err, err)
			}
			lost := object{"fault": fault, "at": "after"}
			world.Rule(object{"when": object{"operation": "createTransaction"}, "then": lost, "times": 1})
			pay(t, payouts, payout)
			world.Verify(object{"operation": "createTransaction"}, 1)
		})
	}
}

// If a kept connection breaks, net/http repeats a POST that has an Idempotency-Key. A service that ignores it pays twice.
func TestGoRepeatsAPostThatHasAnIdempotencyKey(t *testing.T) {
	for _, canRepeat := range []bool{true, false} {
		world, payouts := setUpAlone(t)
		lost := object{"fault": "reset", "at": "after"}
		world.Rule(object{"when": object{"operation": "createTransaction"}, "then": lost, "times": 1})
		expectStatus(t, payouts, "") // opens the connection
		body := `{"from_user_id": "` + payout.From + `", "to_user_id": "` + payout.To + `", "benif_bank_id": "` +
			payout.Account + `", "amount": 100}`
		request, err := http.NewRequest("POST", world.URL+"/transaction", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+payouts.Token)
		request.Header.Set("Idempotency-Key", "one")
		if !canRepeat {
			request.GetBody = nil
		}
		response, err := payouts.Client.Do(request)
		if err == nil {
			response.Body.Close()
		}
		calls := map[bool]int{true: 2, false: 1}[canRepeat]
		if canRepeat != (err == nil) {
			t.Fatal(err)
		}
		world.Verify(object{"operation": "createTransaction"}, calls)
	}
}

func TestAPaymentIsPendingFor25Minutes(t *testing.T) {
	world, payouts := setUp(t)
	slow := []object{{"status": "PENDING"}, {"status": "SUCCESS", "after": "25m"}}
	world.Rule(object{"when": object{"operation": "createTransaction"}, "then": object{"transaction": slow}})
	start := world.Advance(0)
	pay(t, payouts, payout)
	world.Advance(24*time.Minute + 59*time.Second)
	expectStatus(t, payouts, "PENDING")
	if now := world.Advance(time.Second); now.Sub(start) != 25*time.Minute {
		t.Fatal(now)
	}
	expectStatus(t, payouts, "SUCCESS")
}

func TestCodeThatPollsSeesTheEnd(t *testing.T) {
	world, payouts := setUp(t)
	world.Resume(1000)
	pay(t, payouts, payout)
	success := object{"reference_id": payout.Reference, "transaction_status": "success"}
	world.Wait("transaction", success, 10*time.Second)
	expectStatus(t, payouts, "SUCCESS")
}

func TestWebhooksAreVerified(t *testing.T) {
	world, payouts := setUp(t)
	var events []string
	var refused []string
	world.Receive(func(event object, err error) int {
		if err != nil {
			refused = append(refused, err.Error())
			return http.StatusUnauthorized
		}
		events = append(events, event["type"].(string))
		return http.StatusNoContent
	})
	pay(t, payouts, payout)
	world.Advance(3 * time.Second)
	expected := []string{"transaction.pending", "transaction.processing", "transaction.success"}
	if !reflect.DeepEqual(events, expected) {
		t.Fatal(events)
	}
	world.Scenario("webhook-bad-signatures")
	second := payout
	second.Reference = "salary-2026-02"
	pay(t, payouts, second)
	world.Advance(3 * time.Second)
	for _, reason := range []string{"the signature does not fit", "the timestamp is too old or too new"} {
		if !strings.Contains(strings.Join(refused, "\n"), reason) || len(events) != 3 {
			t.Fatal(reason, refused, events)
		}
	}
}

func TestEachReceiverHasASecretOfItsOwn(t *testing.T) {
	world, payouts := setUp(t)
	var refused []error
	world.Receive(func(_ object, err error) int {
		refused = append(refused, err)
		return http.StatusNoContent
	})
	var webhook struct{ Data object }
	if err := world.Call("GET /v1/clientWebhook", nil, &webhook); err != nil {
		t.Fatal(err)
	}
	world.Reset()
	world.Receive(func(object, error) int { return http.StatusNoContent })
	if err := world.Call("PUT /v1/clientWebhook", object{"url": webhook.Data["url"]}); err != nil {
		t.Fatal(err)
	}
	pay(t, payouts, payout)
	world.Advance(3 * time.Second)
	if len(refused) != 3 || refused[0] == nil {
		t.Fatal(refused)
	}
}

func TestAHandlerThatFailsGetsTheEventAgain(t *testing.T) {
	world, payouts := setUp(t)
	ids := map[any]int{}
	world.Receive(func(event object, err error) int {
		if ids[event["id"]]++; len(ids) == 1 && ids[event["id"]] == 1 {
			return http.StatusInternalServerError
		}
		return http.StatusNoContent
	})
	pay(t, payouts, payout)
	world.Advance(time.Second)
	if !reflect.DeepEqual([]int{len(ids), countOf(ids)}, []int{2, 3}) {
		t.Fatal(ids)
	}
}

func countOf(ids map[any]int) (count int) {
	for _, times := range ids {
		count += times
	}
	return count
}

func TestTheOtherCalls(t *testing.T) {
	world, payouts := setUp(t)
	other := payoutsandbox.NewWorld(t)
	pay(t, payouts, payout)
	var rejected *payoutsandbox.Error
	match := object{"match": object{"body": object{"reference_id": "INV-8"}}}
	err := world.Call("POST /__admin/requests/verify", match)
	if !errors.As(err, &rejected) || rejected.Code != "verification_failed" || !strings.Contains(err.Error(), "INV-8") {
		t.Fatal(err)
	}
	world.VerifyAtLeast(object{"operation": "createTransaction"}, 1)
	wrong := object{"when": object{"operation": "*"}, "then": object{"x": 1, "y": 1}}
	err = world.Call("POST /__admin/rules", wrong)
	if err == nil || !strings.Contains(err.Error(), "\nthen.y: unknown key") {
		t.Fatal(err)
	}
	world.Save("paid")
	success := object{"reference_id": payout.Reference, "transaction_status": "success"}
	world.Wait("transaction", success, 10*time.Second, 48*time.Hour)
	for last, expected := range map[string]int{"2025-12-31": 0, "2026-12-31": 1} {
		missing := world.Reconcile([]object{}, "2025-12-31", last)["differences"].([]any)
		if len(missing) != expected {
			t.Fatal(last, missing)
		}
	}
	if missing := world.Reconcile([]object{}, "2025-12-31")["differences"].([]any); len(missing) > 0 {
		t.Fatal(missing)
	}
	world.Restore("paid")
	expectStatus(t, payouts, "PENDING")
	world.Assume(object{"list_order": "oldest_first"})
	for one, expected := range map[*payoutsandbox.World]string{world: "oldest_first", other: "newest_first"} {
		var list struct {
			Assumptions []struct{ Name, Reading string }
		}
		if err := one.Call("GET /__admin/assumptions", nil, &list); err != nil {
			t.Fatal(err)
		}
		for _, assumption := range list.Assumptions {
			if assumption.Name == "list_order" && assumption.Reading != expected {
				t.Fatal(assumption)
			}
		}
	}
	world.Reset()
	expectStatus(t, payouts, "")
}

func TestTheBooksAgreeAfterTwoDays(t *testing.T) {
	world, payouts := setUp(t)
	back := []object{{"status": "PENDING"}, {"status": "SUCCESS", "after": "3s"}, {"status": "FAILED", "after": "1d"}}
	when := object{"operation": "createTransaction", "body": object{"reference_id": "comes back"}}
	world.Rule(object{"when": when, "then": object{"transaction": back}})
	paid, fails, comesBack := payout, payout, payout
	paid.Reference = "paid"
	fails.Reference, fails.Amount = "fails", 100.91
	comesBack.Reference = "comes back"
	for _, one := range []Payout{paid, fails, comesBack} {
		pay(t, payouts, one)
	}
	world.Advance(48 * time.Hour)
	var books []object // yours would be in your database
	for _, one := range []Payout{paid, fails, comesBack} {
		status, _ := payouts.Status(one)
		books = append(books, object{"reference": one.Reference, "amount": one.Amount, "status": status})
	}
	if differences := world.Reconcile(books)["differences"].([]any); len(differences) > 0 {
		t.Fatal(differences)
	}
}

func TestASandboxThatCannotStartSaysWhy(t *testing.T) {
	for variable, expected := range map[string]string{
		"PAYOUT_SANDBOX_URL=http://127.0.0.1:1/v1": "found no sandbox at PAYOUT_SANDBOX_URL=http://127.0.0.1:1/v1 (.*connection refused.*: start one",
		"PAYOUT_SANDBOX_BIN=/no/such/program":      "cannot run /no/such/program (.*: set PAYOUT_SANDBOX_BIN to",
		"PAYOUT_SANDBOX_BIN=echo":                  "echo printed something that is not JSON .*: set PAYOUT_SANDBOX_BIN to",
		"PAYOUT_SANDBOX_BIN=false":                 "false ended with exit status 1: see its message",
	} {
		tests := exec.Command(os.Args[0])
		tests.Env = append(os.Environ(), "PAYOUT_SANDBOX_URL=", variable)
		output, err := tests.CombinedOutput()
		if err == nil {
			t.Fatal(variable)
		}
		for _, part := range strings.Split(expected, ".*") {
			if !strings.Contains(string(output), part) {
				t.Fatalf("%s: %s", variable, output)
			}
		}
	}
}
