import static org.junit.jupiter.api.Assertions.*;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.*;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(PayoutSandboxExtension.class)
class PayoutsTest {
  // Asha pays Rohan. Both are in the sandbox's example data: see fixtures/README.md.
  static final Payouts.Payout PAYOUT = payout(new BigDecimal(100), "salary-2026-01");

  static Payouts.Payout payout(BigDecimal amount, String reference) {
    return new Payouts.Payout("00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000003",
        "b0000000-0000-4000-8000-000000000003", amount, reference);
  }

  static Payouts payouts(PayoutSandbox.World world) {
    return new Payouts(world.url(), world.token(), Duration.ofSeconds(5));
  }

  @Test void aPaymentArrives(PayoutSandbox.World world) throws Exception {
    payouts(world).pay(PAYOUT);
    assertEquals("PENDING", payouts(world).status(PAYOUT));
    assertEquals(2, world.advance(Duration.ofSeconds(3)).size());
    assertEquals("SUCCESS", payouts(world).status(PAYOUT));
  }

  @Test void aPaymentOf100_92Fails(PayoutSandbox.World world) throws Exception {
    payouts(world).pay(payout(new BigDecimal("100.92"), "salary-2026-01"));
    world.advance(Duration.ofHours(1));
    assertEquals("FAILED", payouts(world).status(PAYOUT));
  }

  @Test void aResponseIsLostAndTheMoneyMovesOnce(PayoutSandbox.World world) throws Exception {
    world.save("before");
    world.scenario("lost-responses");
    payouts(world).pay(PAYOUT);
    List<Object> added = PayoutSandbox.get(world.diff("before"), "payments", "added");
    assertEquals(1, added.size());
    world.verify(Map.of("operation", "createTransaction"), 1);
  }

  // What HttpClient throws if a scenario breaks the response. The payment is made all the same, and pay() pays once.
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "reset | IOException | HTTP/1.1 header parser received no bytes",
    "empty | IOException | HTTP/1.1 header parser received no bytes",
    "truncate | IOException | fixed content-length:",
    "malformed | IllegalArgumentException | not JSON",
    "hang | HttpTimeoutException | request timed out",
  })
  void aBrokenResponse(String fault, String exception, String message, PayoutSandbox.World world) throws Exception {
    Payouts payouts = new Payouts(world.url(), world.token(), Duration.ofSeconds(fault.equals("hang") ? 1 : 5));
    world.rule(Map.of("when", Map.of("operation", "getClientProfile"), "then", Map.of("fault", fault)));
    Exception failure = assertThrows(Exception.class, () -> payouts.call("GET", "/client/profile", ""));
    assertEquals(exception, failure.getClass().getSimpleName());
    assertTrue(failure.getMessage().startsWith(message), failure.getMessage());
    Map<String, Object> lost = Map.of("fault", fault, "at", "after");
    world.rule(Map.of("when", Map.of("operation", "createTransaction"), "then", lost, "times", 1));
    payouts.pay(PAYOUT);
    world.verify(Map.of("operation", "createTransaction"), 1);
  }

  @Test void aPaymentIsPendingFor25Minutes(PayoutSandbox.World world) throws Exception {
    var slow = List.of(Map.of("status", "PENDING"), Map.of("status", "SUCCESS", "after", "25m"));
    world.rule(Map.of("when", Map.of("operation", "createTransaction"), "then", Map.of("transaction", slow)));
    var start = world.now();
    payouts(world).pay(PAYOUT);
    world.advance(Duration.ofMinutes(25).minusSeconds(1));
    assertEquals("PENDING", payouts(world).status(PAYOUT));
    world.advance(Duration.ofSeconds(1));
    assertEquals("SUCCESS", payouts(world).status(PAYOUT));
    assertEquals(Duration.ofMinutes(25), Duration.between(start, world.now()));
  }

  @Test void codeThatPollsSeesTheEnd(PayoutSandbox.World world) throws Exception {
    world.resume(1000);
    payouts(world).pay(PAYOUT);
    var success = Map.of("reference_id", PAYOUT.reference(), "transaction_status", "success");
    world.await("transaction", success, Duration.ofSeconds(10));
    assertEquals("SUCCESS", payouts(world).status(PAYOUT));
  }

  @Test void webhooksAreVerified(PayoutSandbox.World world) throws Exception {
    try (var receiver = world.receiver(event -> {})) {
      payouts(world).pay(PAYOUT);
      world.advance(Duration.ofSeconds(3));
      var names = receiver.events.stream().map(event -> event.get("type")).toList();
      assertEquals(List.of("transaction.pending", "transaction.processing", "transaction.success"), names);
      world.scenario("webhook-bad-signatures");
      payouts(world).pay(payout(BigDecimal.TEN, "salary-2026-02"));
      world.advance(Duration.ofSeconds(3));
      assertEquals(3, receiver.events.size());
      var reasons = Set.of("the signature does not fit", "the timestamp is too old or too new");
      assertEquals(reasons, new HashSet<>(receiver.refused));
    }
  }

  @Test void aHandlerThatThrowsGetsTheEventAgain(PayoutSandbox.World world) throws Exception {
    var ids = new ArrayList<Object>();
    try (var receiver = world.receiver(event -> {
      ids.add(event.get("id"));
      if (ids.size() == 1) throw new IllegalStateException("the first attempt fails");
    })) {
      payouts(world).pay(PAYOUT);
      world.advance(Duration.ofSeconds(1));
      assertEquals(2, Collections.frequency(ids, ids.get(0)));
      assertEquals(3, receiver.events.size());
    }
  }

  @Test void eachReceiverHasASecretOfItsOwn(PayoutSandbox.World world) throws Exception {
    try (var first = world.receiver(event -> {})) {
      String url = PayoutSandbox.get(world.call("GET", "/v1/clientWebhook", null), "data", "url");
      world.reset();
      try (var second = world.receiver(event -> {})) {
        world.call("PUT", "/v1/clientWebhook", Map.of("url", url));
        payouts(world).pay(PAYOUT);
        world.advance(Duration.ofSeconds(3));
        assertEquals(Set.of("the signature does not fit"), new HashSet<>(first.refused));
        assertEquals(List.of(), first.events);
      }
    }
  }

  @Test void theOtherCalls(PayoutSandbox.World world) throws Exception {
    payouts(world).pay(PAYOUT);
    var failure = assertThrows(PayoutSandbox.Rejected.class, () -> world.verify(Map.of("body", Map.of("reference_id", "INV-8")), 1));
    assertEquals("verification_failed", failure.code);
    assertTrue(failure.getMessage().contains("INV-8"));
    world.verifyAtLeast(Map.of("operation", "createTransaction"), 1);
    Map<String, Object> wrong = Map.of("when", Map.of("operation", "*"), "then", Map.of("x", 1, "y", 1));
    String errors = assertThrows(PayoutSandbox.Rejected.class, () -> world.rule(wrong)).getMessage();
    for (String line : List.of("\nthen.x: unknown", "\nthen.y: unknown")) assertTrue(errors.contains(line), errors);
    world.save("paid");
    var success = Map.of("reference_id", PAYOUT.reference(), "transaction_status", "success");
    world.await("transaction", success, Duration.ofSeconds(10), Duration.ofDays(2));
    List<Object> missing = PayoutSandbox.get(world.reconcile(List.of(), Map.of("from", "2026-01-01")), "differences");
    assertEquals(1, missing.size());
    assertEquals(List.of(), world.reconcile(List.of(), Map.of("date", "2025-12-31")).get("differences"));
    world.restore("paid");
    assertEquals("PENDING", payouts(world).status(PAYOUT));
    var assumptions = world.assume(Map.of("list_order", "oldest_first"));
    assertTrue(assumptions.stream().anyMatch(one -> one.get("name").equals("list_order") && one.get("reading").equals("oldest_first")));
    world.reset();
    assertNull(payouts(world).status(PAYOUT));
  }

  @Test void theBooksAgreeAfterTwoDays(PayoutSandbox.World world) throws Exception {
    var success = Map.of("status", "SUCCESS", "after", "3s");
    var back = List.of(Map.of("status", "PENDING"), success, Map.of("status", "FAILED", "after", "1d"));
    var when = Map.of("operation", "createTransaction", "body", Map.of("reference_id", "comes back"));
    world.rule(Map.of("when", when, "then", Map.of("transaction", back)));
    var fails = payout(new BigDecimal("100.91"), "fails");
    var all = List.of(payout(BigDecimal.TEN, "paid"), fails, payout(BigDecimal.TEN, "comes back"));
    for (var one : all) payouts(world).pay(one);
    world.advance(Duration.ofDays(2));
    var books = new ArrayList<Map<String, Object>>(); // yours would be in your database
    for (var one : all)
      books.add(Map.of("reference", one.reference(), "amount", one.amount(), "status", payouts(world).status(one)));
    assertEquals(List.of(), world.reconcile(books).get("differences"));
  }

  @Test void jsonIsReadAndWritten() {
    Object value = new LinkedHashMap<>(Map.of("text", "₹ \"quoted\" \\ \n\t\u0001/", "list", List.of(), "map", Map.of("yes", true)));
    assertEquals(value, PayoutSandbox.Json.read(PayoutSandbox.Json.write(value)));
    assertEquals(Arrays.asList(new BigDecimal("-1.5e3"), null, false, "é\b/"), PayoutSandbox.Json.read(" [-1.5e3, null,false, \"\\u00e9\\b\\/\"] "));
    for (String wrong : List.of("", "{", "[1", "\"a", "yes", "\"\\x\""))
      assertThrows(IllegalArgumentException.class, () -> PayoutSandbox.Json.read(wrong), wrong);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "PAYOUT_SANDBOX_URL | http://127.0.0.1:1/v1 | found no sandbox at PAYOUT_SANDBOX_URL=http://127.0.0.1:1/v1 (.*Connect.*: start",
    "PAYOUT_SANDBOX_BIN | /no/such/program | Cannot run program \"/no/such/program\".*: set PAYOUT_SANDBOX_BIN to",
    "PAYOUT_SANDBOX_BIN | echo | echo printed \"start .* not JSON: set PAYOUT_SANDBOX_BIN to",
    "PAYOUT_SANDBOX_BIN | false | false ended with exit code 1: see its message",
  })
  void aSandboxThatCannotStartSaysWhy(String variable, String value, String message) {
    var failure = assertThrows(IOException.class, () -> new PayoutSandbox(Map.of(variable, value)));
    for (String part : message.split("\\.\\*")) assertTrue(failure.getMessage().contains(part), failure.getMessage());
  }
}
