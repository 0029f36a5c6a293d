import java.util.UUID;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/**
 * A container of the sandbox for tests, with a frozen clock. More options are variables:
 * {@code withEnv("PAYOUT_SANDBOX_SCENARIO", "slow")}. Needs a container engine and org.testcontainers:testcontainers.
 */
public final class PayoutSandboxContainer extends GenericContainer<PayoutSandboxContainer> {
  private static final int PORT = 4310;
  public final String adminToken = UUID.randomUUID().toString();

  public PayoutSandboxContainer() {
    super(DockerImageName.parse("payout-sandbox:latest"));
    withExposedPorts(PORT);
    withEnv("PAYOUT_SANDBOX_ADMIN_TOKEN", adminToken);
    withEnv("PAYOUT_SANDBOX_CLOCK", "frozen");
    waitingFor(Wait.forHttp("/__admin/ready").forPort(PORT));
  }

  /** What the code under test calls. */
  public String url() { return origin() + "/v1"; }

  /** One client of the sandbox, for clients/java/PayoutSandbox.java. */
  public PayoutSandbox.World world(String name) {
    return new PayoutSandbox.World(origin() + "/@" + name, "sbx_" + name, adminToken);
  }

  private String origin() { return "http://" + getHost() + ":" + getMappedPort(PORT); }
}
