import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import com.sun.net.httpserver.*;
import java.io.*;
import java.math.BigDecimal;
import java.net.*;
import java.net.http.*;
import java.security.*;
import java.time.*;
import java.util.*;
import java.util.function.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A client of payout-sandbox for tests with JDK 17 or later. It needs no library. */
public final class PayoutSandbox implements AutoCloseable {
  private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String root, adminToken;
  /** A sandbox that this object started stops when this ends. */
  private OutputStream stdin = OutputStream.nullOutputStream();

  /** Finds the sandbox at PAYOUT_SANDBOX_URL, or starts one with these options: in memory, with a frozen clock. */
  public PayoutSandbox(String... options) throws IOException, InterruptedException { this(System.getenv(), options); }

  PayoutSandbox(Map<String, String> env, String... options) throws IOException, InterruptedException {
    String url = env.getOrDefault("PAYOUT_SANDBOX_URL", ""), program = env.getOrDefault("PAYOUT_SANDBOX_BIN", "");
    Object given = Map.of("url", url, "admin_token", env.getOrDefault("PAYOUT_SANDBOX_ADMIN_TOKEN", ""));
    Object ready = url.isEmpty() ? start(program.isEmpty() ? "payout-sandbox" : program, options) : given;
    root = PayoutSandbox.<String>get(ready, "url").replaceFirst("(/@[^/]+)?(/v1)?/*$", "");
    adminToken = Objects.requireNonNullElse(get(ready, "admin_token"), "");
    if (url.isEmpty()) return;
    try {
      new World(root, "", "").call("GET", "/__admin/health", null);
    } catch (RuntimeException failure) {
      throw new IOException("found no sandbox at PAYOUT_SANDBOX_URL=" + url + " (" + failure.getMessage()
          + "): start one there, or unset the variable", failure);
    }
  }

  private Object start(String program, String... options) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of(program, "start", "--memory", "--port", "0", "--json", "--stop-with-stdin"));
    words.addAll(List.of(options));
    ProcessBuilder builder = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().putIfAbsent("PAYOUT_SANDBOX_CLOCK", "frozen");
    builder.environment().putIfAbsent("PAYOUT_SANDBOX_LOG_LEVEL", "warn");
    String hint = "set PAYOUT_SANDBOX_BIN to the path of payout-sandbox, or PAYOUT_SANDBOX_URL to a running sandbox";
    Process process;
    try {
      process = builder.start();
    } catch (IOException failure) {
      throw new IOException(failure.getMessage() + ": " + hint, failure);
    }
    stdin = process.getOutputStream();
    String line = process.inputReader().readLine();
    if (line == null) throw new IOException(program + " ended with exit code " + process.waitFor() + ": see its message");
    if (line.startsWith("{")) return Json.read(line);
    process.destroy();
    throw new IOException(program + " printed \"" + line + "\", not JSON: " + hint);
  }

  /** Stops the sandbox, if this object started it. */
  @Override public void close() throws IOException { stdin.close(); }

  /** Returns the client with this name: a-z, 0-9 and -. The first call to it creates it. */
  public World world(String name) { return new World(root + "/@" + name, "sbx_" + name, adminToken); }

  /** Returns a value inside JSON: get(response, "data", 0, "transaction_id"). */
  @SuppressWarnings("unchecked")
  public static <T> T get(Object json, Object... path) {
    for (Object step : path)
      json = step instanceof Integer index ? ((List<?>) json).get(index) : ((Map<?, ?>) json).get(step);
    return (T) json;
  }

  /** The sandbox rejected a call. The code is one of docs/errors.md. */
  public static final class Rejected extends RuntimeException {
    public final String code;
    private Rejected(Object error) {
      super(textOf(get(error, "message"), get(error, "errors")));
      code = get(error, "error");
    }
    private static String textOf(String message, List<Object> errors) {
      var lines = errors.stream().map(one -> "\n" + get(one, "field") + ": " + get(one, "message"));
      return errors.size() > 1 ? message + lines.collect(joining()) : message;
    }
  }

  /** One client of a sandbox. It shares no users, payments, clock, scenario or webhook with other worlds. */
  public record World(String base, String token, String adminToken) {
    /** What the code under test needs, with the token. */
    public String url() { return base + "/v1"; }
    /** Makes a call such as call("GET", "/__admin/clock", null), and returns its response. */
    public Map<String, Object> call(String method, String path, Object body) {
      var content = HttpRequest.BodyPublishers.ofString(body == null ? "" : Json.write(body));
      var request = HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofMinutes(2));
      request.method(method, content).header("content-type", "application/json");
      request.header("authorization", "Bearer " + token).header("x-admin-token", adminToken);
      var response = HTTP.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString()).join();
      if (response.statusCode() >= 300) throw new Rejected(Json.read(response.body()));
      return get(Json.read(response.body()));
    }
    /** Restores fixtures, clock and scenario. */
    public void reset() { call("POST", "/__admin/reset", Map.of()); }
    /** Deletes this client. */
    public void delete() { call("DELETE", "/__admin/clients/" + token.substring(4), null); }
    /** Stops the clock. */
    public void freeze() { call("POST", "/__admin/clock/freeze", Map.of()); }
    /** Lets the clock run again, for code that polls. */
    public void resume() { call("POST", "/__admin/clock/resume", Map.of()); }
    /** Lets the clock run: with a speed of 60, a minute of this world takes a second. */
    public void resume(double speed) {
      resume();
      call("POST", "/__admin/clock/speed", Map.of("factor", speed));
    }
    /** Returns the time of the clock. */
    public Instant now() { return Instant.parse(get(call("GET", "/__admin/clock", null), "now")); }
    /** Moves the clock, and returns the timers that ran when all has settled. */
    public List<Map<String, Object>> advance(Duration by) {
      return get(call("POST", "/__admin/clock/advance", Map.of("by", by.toString())), "fired");
    }
    /** Activates a scenario. */
    public void scenario(String scenario) { call("PUT", "/__admin/scenario", Map.of("name", scenario)); }
    /** Puts a rule before the scenario, in the form of docs/scenarios.md. */
    public void rule(Map<String, ?> rule) { call("POST", "/__admin/rules", rule); }
    /** Chooses readings of docs/assumptions.md. Returns all assumptions with the reading in force. */
    public List<Map<String, Object>> assume(Map<String, ?> readings) {
      return get(call("PUT", "/__admin/assumptions", readings), "assumptions");
    }
    /** Throws unless exactly this number of calls match. */
    public void verify(Map<String, ?> match, int exactly) {
      call("POST", "/__admin/requests/verify", Map.of("match", match, "exactly", exactly));
    }
    /** Throws unless at least this number of calls match. */
    public void verifyAtLeast(Map<String, ?> match, int count) {
      call("POST", "/__admin/requests/verify", Map.of("match", match, "at_least", count));
    }
    /** Returns a "request", "transaction", "kyc" or "delivery" as soon as one matches, or throws. */
    public Map<String, Object> await(String what, Map<String, ?> match, Duration timeout) {
      return get(call("POST", "/__admin/wait", Map.of("for", what, "match", match, "timeout_ms", timeout.toMillis())), what);
    }
    /** Waits, and moves a frozen clock on meanwhile, by at most a duration. */
    public Map<String, Object> await(String what, Map<String, ?> match, Duration timeout, Duration advance) {
      var body = Map.of("for", what, "match", match, "timeout_ms", timeout.toMillis(), "advance", advance.toString());
      return get(call("POST", "/__admin/wait", body), what);
    }
    /** Compares your books with what really happened: see docs/books.md. */
    public Map<String, Object> reconcile(List<? extends Map<String, ?>> rows) { return reconcile(rows, Map.of()); }
    /** Compares your books with the bank's statement of some days: "date", or "from" and "to". */
    public Map<String, Object> reconcile(List<? extends Map<String, ?>> rows, Map<String, String> days) {
      var body = new HashMap<String, Object>(days);
      body.put("rows", rows);
      return call("POST", "/__admin/reconcile", body);
    }
    /** Saves the state as a snapshot. */
    public void save(String snapshot) { call("POST", "/__admin/snapshots", Map.of("name", snapshot)); }
    /** Goes back to a snapshot. */
    public void restore(String snapshot) { call("POST", "/__admin/snapshots/" + snapshot + "/restore", Map.of()); }
    /** Returns what was added, removed and changed since a snapshot, by table. */
    public Map<String, Object> diff(String snapshot) {
      return get(call("GET", "/__admin/snapshots/" + snapshot + "/diff", null), "tables");
    }
    /** Registers the webhook of this client. */
    public void registerWebhook(String receiver, String secret) {
      call("POST", "/v1/clientWebhook", Map.of("url", receiver, "webhook_secret", secret));
    }
    /** Registers a receiver. The handler gets each genuine event before the response; if it throws, that is 500. */
    public Receiver receiver(Consumer<Map<String, Object>> handler) throws IOException {
      String secret = UUID.randomUUID().toString();
      Receiver receiver = new Receiver(secret, handler);
      registerWebhook("http://127.0.0.1:" + receiver.server.getAddress().getPort(), secret);
      receiver.server.start();
      return receiver;
    }
  }

  /** Throws unless the webhook is genuine and new. `header` returns a header by its name, or null. */
  public static void verifyWebhook(UnaryOperator<String> header, byte[] body, String secret)
      throws GeneralSecurityException {
    String id = header.apply("webhook-id"), timestamp = header.apply("webhook-timestamp");
    String signatures = String.valueOf(header.apply("webhook-signature"));
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes(UTF_8));
    byte[] right = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(UTF_8);
    boolean genuine = false;
    for (String one : signatures.split(" ")) genuine |= MessageDigest.isEqual(right, one.getBytes(UTF_8));
    if (!genuine) throw new GeneralSecurityException("the signature does not fit");
    if (!timestamp.matches("\\d{1,12}") || Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > 300)
      throw new GeneralSecurityException("the timestamp is too old or too new");
  }

  /** Receives webhooks: `events` has the genuine ones, and `refused` the reason for each other one. */
  public static final class Receiver implements AutoCloseable {
    public final List<Map<String, Object>> events = Collections.synchronizedList(new ArrayList<>());
    public final List<String> refused = Collections.synchronizedList(new ArrayList<>());
    private final HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);

    Receiver(String secret, Consumer<Map<String, Object>> handler) throws IOException {
      server.createContext("/", exchange -> {
        exchange.sendResponseHeaders(statusOf(exchange, secret, handler), -1);
        exchange.close();
      });
    }

    private int statusOf(HttpExchange http, String secret, Consumer<Map<String, Object>> handler) throws IOException {
      byte[] body = http.getRequestBody().readAllBytes();
      try {
        verifyWebhook(http.getRequestHeaders()::getFirst, body, secret);
        Map<String, Object> event = get(Json.read(new String(body, UTF_8)));
        events.add(event);
        handler.accept(event);
        return 204;
      } catch (GeneralSecurityException reason) {
        refused.add(reason.getMessage());
        return 401;
      } catch (RuntimeException | AssertionError failure) {
        failure.printStackTrace();
        return 500;
      }
    }

    @Override public void close() { server.stop(0); }
  }

  /** JSON as Map, List, String, BigDecimal, Boolean and null. */
  static final class Json {
    private final String text;
    private int at;
    private Json(String text) { this.text = text; }
    static Object read(String text) {
      Json json = new Json(text + " ");
      try {
        Object value = json.value();
        if (text.substring(json.at).isBlank()) return value;
      } catch (IndexOutOfBoundsException | IllegalArgumentException wrong) { /* thrown below */ }
      throw new IllegalArgumentException("not JSON: " + text);
    }
    static String write(Object value) {
      if (value instanceof Map<?, ?> map)
        return map.entrySet().stream().map(one -> write(one.getKey().toString()) + ":" + write(one.getValue()))
            .collect(joining(",", "{", "}"));
      if (value instanceof Collection<?> list) return list.stream().map(Json::write).collect(joining(",", "[", "]"));
      if (!(value instanceof String string)) return String.valueOf(value);
      return string.chars().mapToObj(c -> c < ' ' || c == '"' || c == '\\' ? "\\u%04x".formatted(c) : "" + (char) c)
          .collect(joining("", "\"", "\""));
    }
    private boolean took(char one) {
      while (" \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
      if (text.charAt(at) != one) return false;
      at++;
      return true;
    }
    private void take(char one) { if (!took(one)) throw new IllegalArgumentException(); }
    private Object value() {
      if (took('"')) return string();
      if (took('[')) {
        List<Object> list = new ArrayList<>();
        if (took(']')) return list;
        do list.add(value()); while (took(','));
        take(']');
        return list;
      }
      if (took('{')) {
        Map<String, Object> map = new LinkedHashMap<>();
        if (took('}')) return map;
        do {
          take('"');
          String key = string();
          take(':');
          map.put(key, value());
        } while (took(','));
        take('}');
        return map;
      }
      int start = at;
      while (",:]} \t\r\n".indexOf(text.charAt(at)) < 0) at++;
      String word = text.substring(start, at);
      return word.matches("true|false") ? Boolean.valueOf(word) : word.equals("null") ? null : new BigDecimal(word);
    }
    private String string() {
      var out = new StringBuilder();
      for (char c; (c = text.charAt(at++)) != '"'; ) {
        if (c != '\\') out.append(c);
        else if ((c = text.charAt(at++)) == 'u') out.append((char) Integer.parseInt(text, at, at += 4, 16));
        else out.append("\b\f\n\r\t\"\\/".charAt("bfnrt\"\\/".indexOf(c)));
      }
      return out.toString();
    }
  }
}
