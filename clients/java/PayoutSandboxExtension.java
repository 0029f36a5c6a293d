import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives a test method a PayoutSandbox.World of its own, with a frozen clock, as a parameter. All tests of a JVM share one
 * sandbox. Write {@code @ExtendWith(PayoutSandboxExtension.class)}, or register an object of it to set options.
 */
public final class PayoutSandboxExtension implements ParameterResolver {
  private static final Namespace STORE = Namespace.create(PayoutSandboxExtension.class);
  private final List<String> options;

  public PayoutSandboxExtension() { this(new String[0]); }

  public PayoutSandboxExtension(String... options) { this.options = List.of(options); }

  private record Shared(PayoutSandbox sandbox) implements CloseableResource, AutoCloseable {
    @Override public void close() throws java.io.IOException { sandbox.close(); }
  }

  private record Leased(PayoutSandbox.World world) implements CloseableResource, AutoCloseable {
    @Override public void close() { world.delete(); }
  }

  @Override public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    return parameter.getParameter().getType() == PayoutSandbox.World.class;
  }

  @Override public PayoutSandbox.World resolveParameter(ParameterContext parameter, ExtensionContext test) {
    return test.getStore(STORE).getOrComputeIfAbsent("world", key -> lease(test), Leased.class).world;
  }

  private Leased lease(ExtensionContext test) {
    var shared = test.getRoot().getStore(STORE).getOrComputeIfAbsent(options, key -> start(), Shared.class);
    // Several JVMs can share the sandbox of PAYOUT_SANDBOX_URL.
    var world = shared.sandbox.world("java-" + UUID.randomUUID());
    world.freeze();
    return new Leased(world);
  }

  private Shared start() {
    try {
      return new Shared(new PayoutSandbox(options.toArray(new String[0])));
    } catch (java.io.IOException | InterruptedException failure) {
      throw new IllegalStateException(failure.getMessage(), failure);
    }
  }
}
