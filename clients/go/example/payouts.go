// Package example is the code to test: it makes a payment and reads its status.
package example

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	tries       = 3
	longestWait = 2
)

// Payout is a payment to make. Reference makes it unique.
type Payout struct {
	From      string  `json:"from_user_id"`
	To        string  `json:"to_user_id"`
	Account   string  `json:"benif_bank_id"`
	Amount    float64 `json:"amount"`
	Reference string  `json:"reference_id"`
}

// Payouts makes payments at a service.
type Payouts struct {
	URL, Token string
	Client     http.Client
}

// Rejection is a response with an error status.
type Rejection int

func (r Rejection) Error() string { return fmt.Sprintf("the service responded with %d", int(r)) }

// Pay pays once, also if a response is lost: before each try it looks for the payment in the history. If it returns an
// error, call it again later.
func (p *Payouts) Pay(payout Payout) error {
	var failure error
	for try := 0; try < tries; try++ {
		if status, err := p.Status(payout); err != nil || status != "" {
			return err
		}
		if failure = p.call("POST", "/transaction", payout, &struct{}{}); failure == nil {
			return nil
		}
		var rejection Rejection
		if errors.As(failure, &rejection) && rejection < 500 {
			return failure
		}
	}
	return failure
}

// Status returns PENDING, PROCESSING, SUCCESS, FAILED, or "" if the history does not have the payment.
func (p *Payouts) Status(payout Payout) (string, error) {
	for page, pages := 1, 1; page <= pages; page++ {
		var history struct {
			Data struct {
				TotalPages   int `json:"total_pages"`
				Transactions []struct {
					Reference string `json:"client_transaction_id"`
					Status    string `json:"status"`
				} `json:"transactions"`
			} `json:"data"`
		}
		path := fmt.Sprintf("/transaction/history/user/%s?page=%d", payout.From, page)
		if err := p.call("GET", path, nil, &history); err != nil {
			return "", err
		}
		for _, one := range history.Data.Transactions {
			if one.Reference == payout.Reference {
				return one.Status, nil
			}
		}
		pages = history.Data.TotalPages
	}
	return "", nil
}

func (p *Payouts) call(method, path string, body, result any) error {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, p.URL+path, &content)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+p.Token)
	request.Header.Set("Content-Type", "application/json")
	response, err := p.Client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		// The next try comes no sooner than the service asks for.
		wait, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		if wait > longestWait {
			wait = longestWait
		}
		time.Sleep(time.Duration(wait) * time.Second)
		return Rejection(response.StatusCode)
	}
	return json.NewDecoder(response.Body).Decode(result)
}
