// Package sandbox has a container of the sandbox for tests. Needs a container engine, and
// go get github.com/testcontainers/testcontainers-go
package sandbox

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const (
	port       = "4310/tcp"
	adminToken = "for-this-run-only"
)

// start starts a sandbox with a frozen clock, and returns its origin when it is ready. It stops at the end of the test.
// More options are variables, such as PAYOUT_SANDBOX_SCENARIO.
func start(t *testing.T) string {
	t.Helper()
	ctx := context.Background()
	container, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image:        "payout-sandbox:latest",
			ExposedPorts: []string{port},
			Env: map[string]string{
				"PAYOUT_SANDBOX_ADMIN_TOKEN": adminToken,
				"PAYOUT_SANDBOX_CLOCK":       "frozen",
			},
			WaitingFor: wait.ForHTTP("/__admin/ready").WithPort(port),
		},
		Started: true,
	})
	testcontainers.CleanupContainer(t, container)
	if err != nil {
		t.Fatal(err)
	}
	origin, err := container.PortEndpoint(ctx, port, "http")
	if err != nil {
		t.Fatal(err)
	}
	return origin
}

func TestTimeIsMovedInTheContainer(t *testing.T) {
	origin := start(t)
	request, err := http.NewRequest("POST", origin+"/__admin/clock/advance", strings.NewReader(`{"by":"2d"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Admin-Token", adminToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the sandbox answered %s", response.Status)
	}
}
