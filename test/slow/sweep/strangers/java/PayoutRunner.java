import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.*;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;

/** Sends refunds and salaries when they are due, and continues from its journal after a crash. */
public class PayoutRunner implements AutoCloseable {
    enum State { PLANNED, SENDING, ACCEPTED, SUCCESS, FAILED, REVERSED, REJECTED, HELD }

    interface Time {
        Instant now();

        void sleep(Duration duration) throws IOException, InterruptedException;
    }

    record Api(String url, String token, Duration timeout) {}

    record Order(String reference, String payer, String payee, String bankId, long paise, Instant due) {}

    record Payee(String userId, String name, String born, String pan, String aadhaar, String account, String ifsc) {}

    static final class Payout {
        final Order order;
        State state = State.PLANNED;
        String transactionId, utr, note;
        Instant nextAt;
        int posts, lookups, waits, errors;
        boolean lost;

        Payout(Order order) {
            this.order = order;
            nextAt = order.due;
        }
    }

    static final class ApiError extends IOException {
        final int status;
        final Duration retryAfter;

        ApiError(int status, String message, Duration retryAfter) {
            super(message);
            this.status = status;
            this.retryAfter = retryAfter;
        }

        boolean isRefusal() {
            return status / 100 == 4 && status != 408 && status != 425 && status != 429;
        }
    }

    /** A person has to decide. */
    static final class Held extends RuntimeException {
        Held(String reason) {
            super(reason);
        }
    }

    private static final int TRIES = 4, POSTS = 3, LOOKUPS = 2, BAD_ROUNDS = 5, NO_ANSWER = 0, TIMEOUT = -1;
    private static final Duration SETTLE = Duration.ofSeconds(30), UNREADABLE_PAUSE = Duration.ofMinutes(1);
    private static final List<String> GOOD_KYC = Arrays.asList("success", "verified");
    private static final List<String> REFUSED = Arrays.asList("failed", "rejected");
    private static final String BUG = System.getenv().getOrDefault("BUG", "");

    private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Map<String, Payout> payouts = new LinkedHashMap<>();
    private final Api api;
    private final Time time;
    private final FileChannel journal;

    PayoutRunner(Api api, Time time, Path file) throws IOException {
        this.api = api;
        this.time = time;
        journal = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        if (journal.tryLock() == null) throw new IOException(file + " is in use by another run");
        String text = new String(Files.readAllBytes(file), UTF_8);
        String whole = text.substring(0, text.lastIndexOf('\n') + 1);
        journal.truncate(whole.getBytes(UTF_8).length).position(journal.size());
        whole.lines().forEach(line -> replay(line.split("\t", -1)));
    }

    @Override
    public void close() throws IOException {
        journal.close();
    }

    Payout payout(String reference) {
        return payouts.get(reference);
    }

    void plan(Order o) throws IOException {
        if (!o.reference.matches("[A-Za-z0-9._-]{1,60}") || o.paise < 100)
            throw new IllegalArgumentException("invalid " + o);
        Payout known = payouts.get(o.reference);
        if (known == null) record("PLAN", o.reference, o.payer, o.payee, o.bankId, o.paise, o.due);
        else if (!known.order.equals(o)) throw new IllegalArgumentException(o.reference + " is in use: " + known.order);
    }

    /** Adds what this journal knows to the books: a row for each payout. */
    void books(StringBuilder csv) {
        for (Payout p : payouts.values()) {
            String status = switch (p.state) {
                case SUCCESS -> "success";
                case FAILED, REJECTED -> "failed";
                case REVERSED -> "returned";
                default -> "pending";
            };
            String id = p.transactionId == null ? "" : p.transactionId;
            csv.append(String.join(",", p.order.reference, id, BigDecimal.valueOf(p.order.paise, 2).toPlainString(), status))
                    .append('\n');
        }
    }

    /** Works until no payout needs attention within this time. */
    void run(Duration horizon) throws IOException, InterruptedException {
        Instant end = time.now().plus(horizon);
        for (int badRounds = 0; ; ) {
            var open = payouts.values().stream().filter(p -> p.state.compareTo(State.ACCEPTED) <= 0).toList();
            Instant next = open.stream().map(p -> p.nextAt).min(Comparator.naturalOrder()).orElse(Instant.MAX);
            if (next.isAfter(end)) return;
            if (next.isAfter(time.now())) time.sleep(Duration.between(time.now(), next));
            IOException problem = null;
            boolean worked = false;
            for (Payout p : open) {
                if (p.nextAt.isAfter(time.now())) continue;
                try {
                    advance(p);
                    worked = true;
                    p.errors = 0;
                } catch (Held held) {
                    record("STATE", p.order.reference, State.HELD, held.getMessage());
                } catch (ApiError error) {
                    if (error.status == 401 || error.status == 403) throw error;
                    problem = error;
                    p.nextAt = time.now().plus(longer(SETTLE.multipliedBy(1L << p.errors++), error.retryAfter));
                }
            }
            badRounds = worked || problem == null ? 0 : badRounds + 1;
            if (badRounds == BAD_ROUNDS) throw problem;
        }
    }

    /** Compares the journal with all payments of the provider, and returns what a person must look at. */
    List<String> reconcile() throws IOException, InterruptedException {
        var rows = statement(Integer.MAX_VALUE, TRIES);
        List<String> alerts = new ArrayList<>();
        for (Payout p : payouts.values()) {
            Json row = rows.get(p.transactionId);
            if (row != null) update(p, row);
            if (row == null ? p.transactionId != null : !isOrdered(p, row)) alerts.add(p.order.reference + " differs");
            if (p.state == State.SENDING || p.state == State.HELD)
                alerts.add(p.order.reference + " is unclear: " + p.note);
        }
        rows.forEach((id, row) -> {
            Payout p = payouts.get(row.text("reference_id"));
            if (p != null && !id.equals(p.transactionId)) alerts.add(p.order.reference + " has another payment " + id);
        });
        return alerts;
    }

    /** Checks a person and their account, and returns the bank_id. */
    String verify(Payee payee) throws IOException, InterruptedException {
        verifyKyc(payee);
        var body = Json.object("user_id", payee.userId, "account_number", payee.account, "ifsc_code", payee.ifsc);
        for (int attempt = 1; ; attempt++) {
            try {
                Json account = call("POST", "/bank", body).at("data", "data");
                String holder = account.at("metadata", "response", "data", "result").text("accountName");
                if (!payee.name.equalsIgnoreCase(holder) && !bug("name_unchecked")) throw new Held("holder: " + holder);
                if (account.text("bank_id") != null) return account.text("bank_id");
                throw new ApiError(NO_ANSWER, "an answer without an account", Duration.ZERO);
            } catch (ApiError error) {
                if (error.status == 409) throw new Held("the answer with the account holder's name was lost");
                if (error.isRefusal() || attempt == TRIES) throw error;
                time.sleep(longer(Duration.ofSeconds(1L << attempt), error.retryAfter));
            }
        }
    }

    private void verifyKyc(Payee payee) throws IOException, InterruptedException {
        Object pan = document(payee, "tid", "pan", payee.pan);
        Object aadhaar = document(payee, "pid", "aadhar", payee.aadhaar);
        Object body = Json.object("user_id", payee.userId, "kyc", List.of(pan, aadhaar));
        for (int round = 1; round <= 8; round++) {
            var records = get("/kyc/" + payee.userId, TRIES).at("data", "response", "data", "kycData").list();
            var words = records.stream().map(kyc -> kyc.text("kyc_status")).toList();
            if (words.stream().anyMatch(REFUSED::contains)) throw new Held("KYC failed");
            var types = records.stream().map(kyc -> kyc.text("document_type")).toList();
            if (types.containsAll(List.of("tid", "pid")) && GOOD_KYC.containsAll(words)) return;
            Duration pause = Duration.ofSeconds(1L << round);
            try {
                if (records.isEmpty()) {
                    Json entries = call("POST", "/kyc", body).at("data");
                    if (bug("kyc_first_entry") && GOOD_KYC.contains(entries.at(0, "data").text("kyc_status"))) return;
                }
            } catch (ApiError error) {
                if (error.isRefusal()) throw error;
                pause = longer(pause, error.retryAfter);
            }
            time.sleep(pause);
        }
        throw new Held("KYC is not finished");
    }

    private static Object document(Payee payee, String type, String name, String number) {
        return Json.object("document_type", type, "document_name", name, "document_number", number,
                "dateOfBirth", payee.born, "Nationality", "Indian", "nameOnCard", payee.name);
    }

    private void advance(Payout p) throws IOException, InterruptedException {
        if (p.state == State.ACCEPTED) poll(p);
        else if (p.state == State.SENDING) recover(p);
        else if (hasVerifiedAccount(p)) send(p);
    }

    private boolean hasVerifiedAccount(Payout p) throws IOException, InterruptedException {
        if (bug("bank_status_unread")) return true;
        for (Json account : get("/bank/" + p.order.payee, TRIES).at("data").list()) {
            if (!p.order.bankId.equals(account.text("bank_id"))) continue;
            String status = account.text("bank_status");
            if (REFUSED.contains(status)) throw new Held("the bank refused the account");
            waitLonger(p);
            return "success".equals(status);
        }
        throw new Held("the payee has no such account");
    }

    private void send(Payout p) throws IOException, InterruptedException {
        BigDecimal amount = BigDecimal.valueOf(p.order.paise, 2);
        if (bug("paise_on_retry") && p.lost) amount = BigDecimal.valueOf(p.order.paise);
        record("SENDING", p.order.reference);
        p.lookups = 0;
        try {
            Json row = post(p.order, amount).at("data", 0);
            accept(p, row);
            if (!p.order.reference.equals(row.text("reference_id")))
                throw new IllegalStateException("the provider keeps no references: lost answers could not be resolved");
        } catch (ApiError error) {
            if (bug("idempotency_trust") && !error.isRefusal() && p.posts < POSTS) {
                send(p);
            } else if (bug("timeout_is_failure") && error.status == TIMEOUT) {
                record("STATE", p.order.reference, State.FAILED, "timeout");
            } else if (error.status == 401 || error.status == 403) {
                throw error;
            } else if (error.isRefusal() && error.status != 409) {
                record("STATE", p.order.reference, State.REJECTED, error.getMessage());
            } else {
                p.lost = true;
                p.nextAt = time.now().plus(longer(SETTLE, error.retryAfter));
            }
        }
    }

    private Json post(Order o, BigDecimal amount) throws ApiError, InterruptedException {
        checkpoint("before the call");
        try {
            return call("POST", "/transaction", Json.object("from_user_id", o.payer, "to_user_id", o.payee,
                    "benif_bank_id", o.bankId, "amount", amount, "reference_id", o.reference));
        } finally {
            checkpoint("after the call");
        }
    }

    private void recover(Payout p) throws IOException, InterruptedException {
        Json found = find(p);
        if (found != null) accept(p, found);
        else if (++p.lookups < LOOKUPS) p.nextAt = time.now().plus(SETTLE.multipliedBy(2));
        else if (p.posts < POSTS) send(p);
        else throw new Held("not accepted after " + p.posts + " calls");
    }

    private Json find(Payout p) throws IOException, InterruptedException {
        boolean careless = bug("lookup_error_is_absent"), similar = false;
        Collection<Json> rows;
        try {
            rows = statement(bug("lookup_first_page") ? 1 : Integer.MAX_VALUE, careless ? 1 : TRIES).values();
        } catch (ApiError error) {
            if (!careless) throw error;
            p.lookups = LOOKUPS;
            return null;
        }
        for (Json row : rows) {
            String reference = row.text("reference_id");
            if (bug("lookalike_adopted") ? isOrdered(p, row) : p.order.reference.equals(reference)) return row;
            similar |= reference == null && isOrdered(p, row)
                    && payouts.values().stream().noneMatch(q -> row.text("transaction_id").equals(q.transactionId));
        }
        if (similar) throw new Held("a payment without a reference could be this one");
        return null;
    }

    private void accept(Payout p, Json row) throws IOException {
        String id = row.text("transaction_id");
        if (id == null) throw new ApiError(NO_ANSWER, "an answer without a transaction", Duration.ZERO);
        record("ACCEPTED", p.order.reference, id);
        p.waits = 0;
        waitLonger(p);
        if (!isOrdered(p, row)) throw new Held("the provider's payment differs from the order");
    }

    private void poll(Payout p) throws IOException, InterruptedException {
        Json row = get("/transaction/" + p.transactionId, TRIES).at("data", 0);
        if (!p.transactionId.equals(row.text("transaction_id")))
            throw new ApiError(NO_ANSWER, "an answer without the transaction", Duration.ZERO);
        update(p, row);
        waitLonger(p);
    }

    private void update(Payout p, Json row) throws IOException {
        String utr = row.text("utr"), word = String.valueOf(row.text("transaction_status"));
        if (utr != null && !utr.equals(p.utr)) record("UTR", p.order.reference, utr);
        if (bug("success_is_final") && p.state == State.SUCCESS) return;
        State next = switch (word) {
            case "success" -> State.SUCCESS;
            case "failed" -> p.state == State.SUCCESS ? State.REVERSED : State.FAILED;
            default -> bug("unknown_word_is_failed") && !word.equals("pending") ? State.FAILED : p.state;
        };
        if (next != p.state && p.state != State.REVERSED) record("STATE", p.order.reference, next, word);
    }

    private void waitLonger(Payout p) {
        p.nextAt = time.now().plusSeconds(2L << Math.min(p.waits++, 14));
    }

    private static boolean isOrdered(Payout p, Json row) {
        return p.order.payer.equals(row.text("from_user_id")) && p.order.bankId.equals(row.text("benif_bank_id"))
                && BigDecimal.valueOf(p.order.paise, 2).toPlainString().equals(row.text("amount"));
    }

    private Map<String, Json> statement(int pages, int tries) throws IOException, InterruptedException {
        Map<String, Json> rows = new LinkedHashMap<>();
        int last = 1, total = 0;
        for (int page = 1; page <= Math.min(last, pages); page++) {
            Json data = get("/transaction?page=" + page, tries).at("data");
            for (Json row : data.at("transactions").list()) rows.put(row.text("transaction_id"), row);
            last = data.number("total_pages");
            total = data.number("total_transation");
        }
        if (pages >= last && rows.size() < total) throw new ApiError(NO_ANSWER, "an incomplete list", Duration.ZERO);
        return rows;
    }

    private Json get(String path, int tries) throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return call("GET", path, null);
            } catch (ApiError error) {
                if (error.isRefusal() || attempt == tries) throw error;
                Duration pause = longer(Duration.ofSeconds(1L << attempt), error.retryAfter);
                if (!bug("retry_after_ignored")) time.sleep(pause);
            }
        }
    }

    private Json call(String method, String path, Object body) throws ApiError, InterruptedException {
        var content = HttpRequest.BodyPublishers.ofString(body == null ? "" : Json.write(body));
        var request = HttpRequest.newBuilder(URI.create(api.url + path)).method(method, content)
                .header("Authorization", "Bearer " + api.token).header("Content-Type", "application/json");
        if (body instanceof Map<?, ?> map && map.containsKey("reference_id"))
            request.header("Idempotency-Key", (String) map.get("reference_id"));
        var answer = http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
        try {
            HttpResponse<String> response = answer.get(api.timeout.toMillis(), TimeUnit.MILLISECONDS);
            int status = response.statusCode();
            if (status / 100 == 2) return Json.read(response.body());
            throw new ApiError(status, status + " for " + method + " " + path, retryAfter(response.headers()));
        } catch (TimeoutException late) {
            answer.cancel(true);
            throw new ApiError(TIMEOUT, "no answer in time", Duration.ZERO);
        } catch (ExecutionException | IllegalArgumentException | IndexOutOfBoundsException broken) {
            throw new ApiError(NO_ANSWER, String.valueOf(broken.getMessage()), Duration.ZERO);
        }
    }

    private static Duration retryAfter(HttpHeaders headers) {
        String value = headers.firstValue("Retry-After").orElse("0");
        return value.matches("\\d{1,9}") ? Duration.ofSeconds(Long.parseLong(value)) : UNREADABLE_PAUSE;
    }

    private static Duration longer(Duration a, Duration b) {
        return a.compareTo(b) > 0 ? a : b;
    }

    private static boolean bug(String name) {
        return BUG.equals(name);
    }

    /** Tests stop the run here, as a crash would. */
    protected void checkpoint(String name) {}

    private void record(String event, Object... fields) throws IOException {
        StringJoiner line = new StringJoiner("\t").add(event);
        for (Object field : fields) line.add(String.valueOf(field).replaceAll("\\s", " "));
        ByteBuffer bytes = UTF_8.encode(line + "\n");
        while (bytes.hasRemaining()) journal.write(bytes);
        journal.force(true);
        replay(line.toString().split("\t", -1));
    }

    private void replay(String[] f) {
        if (f[0].equals("PLAN")) {
            var order = new Order(f[1], f[2], f[3], f[4], Long.parseLong(f[5]), Instant.parse(f[6]));
            payouts.put(f[1], new Payout(order));
            return;
        }
        Payout p = payouts.get(f[1]);
        switch (f[0]) {
            case "SENDING" -> p.posts++;
            case "ACCEPTED" -> p.transactionId = f[2];
            case "UTR" -> p.utr = f[2];
            default -> p.note = f[3];
        }
        if (!f[0].equals("UTR")) p.state = State.valueOf(f[0].equals("STATE") ? f[2] : f[0]);
    }
}

/** A value of a JSON text. */
record Json(Object value) {
    Json at(Object... path) {
        Object found = value;
        for (Object step : path) {
            if (found instanceof Map<?, ?> map) found = map.get(step);
            else if (found instanceof List<?> list && step instanceof Integer i && i < list.size()) found = list.get(i);
            else found = null;
        }
        return new Json(found);
    }

    String text(String field) {
        return at(field).value instanceof String text ? text : null;
    }

    int number(String field) throws IOException {
        if (at(field).value instanceof BigDecimal number) return number.intValue();
        throw new PayoutRunner.ApiError(0, "an answer without " + field, Duration.ZERO);
    }

    List<Json> list() throws IOException {
        if (value instanceof List<?> list) return list.stream().map(Json::new).toList();
        throw new PayoutRunner.ApiError(0, "an answer without a list", Duration.ZERO);
    }

    static Map<String, Object> object(Object... pairs) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) object.put((String) pairs[i], pairs[i + 1]);
        return object;
    }

    static String write(Object value) {
        if (value instanceof BigDecimal number) return number.toPlainString();
        StringJoiner out = value instanceof Map ? new StringJoiner(",", "{", "}") : new StringJoiner(",", "[", "]");
        if (value instanceof Map<?, ?> map) map.forEach((key, item) -> out.add(write(key) + ":" + write(item)));
        else if (value instanceof List<?> list) list.forEach(item -> out.add(write(item)));
        else return '"' + String.valueOf(value).replace("\\", "\\\\").replace("\"", "\\\"") + '"';
        return out.toString();
    }

    static Json read(String text) {
        Reader reader = new Reader(text);
        Object value = reader.value();
        if (!text.substring(reader.at).isBlank()) throw new IllegalArgumentException("text after the JSON value");
        return new Json(value);
    }

    private static final class Reader {
        final String text;
        int at;

        Reader(String text) {
            this.text = text;
        }

        Object value() {
            char first = peek();
            if (first == '"') return string();
            if (first == '[') {
                List<Object> list = new ArrayList<>();
                for (at++; !ends(']'); ) list.add(value());
                return list;
            }
            if (first == '{') {
                Map<String, Object> map = new LinkedHashMap<>();
                for (at++; !ends('}'); ) {
                    String key = string();
                    if (peek() != ':') throw new IllegalArgumentException("no colon at " + at);
                    at++;
                    map.put(key, value());
                }
                return map;
            }
            int start = at;
            while (at < text.length() && ",]} \r\n\t".indexOf(text.charAt(at)) < 0) at++;
            String word = text.substring(start, at);
            if (word.equals("null")) return null;
            if (word.equals("true") || word.equals("false")) return Boolean.valueOf(word);
            return new BigDecimal(word);
        }

        char peek() {
            while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
            return text.charAt(at);
        }

        boolean ends(char close) {
            if (peek() == ',') at++;
            if (peek() != close) return false;
            at++;
            return true;
        }

        String string() {
            if (peek() != '"') throw new IllegalArgumentException("no text at " + at);
            StringBuilder out = new StringBuilder();
            while (text.charAt(++at) != '"') {
                char c = text.charAt(at);
                if (c == '\\') {
                    c = text.charAt(++at);
                    int control = "bfnrt".indexOf(c);
                    if (control >= 0) c = "\b\f\n\r\t".charAt(control);
                    if (c == 'u') c = (char) Integer.parseInt(text.substring(at + 1, (at += 4) + 1), 16);
                }
                out.append(c);
            }
            at++;
            return out.toString();
        }
    }
}
