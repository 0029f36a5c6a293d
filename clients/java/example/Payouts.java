import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The code to test: it makes a payment and reads its status. A real one has a JSON library. */
public final class Payouts {
  private static final int TRIES = 3;
  private static final long LONGEST_WAIT = 2;
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private final String url, token;
  private final Duration timeout;

  public record Payout(String from, String to, String account, BigDecimal amount, String reference) {}

  /** A response with an error status. */
  public static final class Rejection extends RuntimeException {
    public final int status;

    Rejection(int status, String body) {
      super(body);
      this.status = status;
    }
  }

  public Payouts(String url, String token, Duration timeout) {
    this.url = url;
    this.token = token;
    this.timeout = timeout;
  }

  /**
   * Pays once, also if a response is lost: before each try it looks for the payment in the history. If it throws after the
   * last try, call it again later.
   */
  public void pay(Payout payout) throws IOException, InterruptedException {
    for (int attempt = 1; status(payout) == null; attempt++) {
      try {
        call("POST", "/transaction", """
            {"from_user_id": "%s", "to_user_id": "%s", "benif_bank_id": "%s", "amount": %s, "reference_id": "%s"}"""
            .formatted(payout.from, payout.to, payout.account, payout.amount, payout.reference));
        return;
      } catch (IOException failure) {
        if (attempt == TRIES) throw failure;
      } catch (Rejection rejection) {
        if (rejection.status < 500 || attempt == TRIES) throw rejection;
      } catch (IllegalArgumentException notJson) {
        if (attempt == TRIES) throw notJson;
      }
    }
  }

  /** Returns PENDING, PROCESSING, SUCCESS, FAILED, or null if the history does not have the payment. */
  public String status(Payout payout) throws IOException, InterruptedException {
    int pages = 1;
    for (int page = 1; page <= pages; page++) {
      Object history = call("GET", "/transaction/history/user/" + payout.from + "?page=" + page, "");
      List<Map<String, Object>> payments = PayoutSandbox.get(history, "data", "transactions");
      for (var payment : payments)
        if (payout.reference.equals(payment.get("client_transaction_id"))) return (String) payment.get("status");
      pages = PayoutSandbox.<BigDecimal>get(history, "data", "total_pages").intValue();
    }
    return null;
  }

  Object call(String method, String path, String body) throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(url + path)).timeout(timeout)
        .header("authorization", "Bearer " + token).header("content-type", "application/json")
        .method(method, HttpRequest.BodyPublishers.ofString(body)).build();
    var response = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() >= 300) {
      // The next try comes no sooner than the service asks for.
      long asked = response.headers().firstValueAsLong("retry-after").orElse(0);
      Thread.sleep(1000 * Math.min(asked, LONGEST_WAIT));
      throw new Rejection(response.statusCode(), response.body());
    }
    return PayoutSandbox.Json.read(response.body());
  }
}
