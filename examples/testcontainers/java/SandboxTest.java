import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class SandboxTest {
  private static final PayoutSandboxContainer SANDBOX = new PayoutSandboxContainer();

  @BeforeAll static void start() { SANDBOX.start(); }

  @AfterAll static void stop() { SANDBOX.stop(); }

  @Test void timeIsMovedInTheContainer() {
    var world = SANDBOX.world("test-1");
    var before = world.now();
    world.advance(Duration.ofDays(2));
    assertEquals(Duration.ofDays(2), Duration.between(before, world.now()));
  }
}
