import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.*;
import java.nio.file.*;
import java.time.*;
import java.util.*;

/**
 * Runs the payout runner against the sandbox of PAYOUT_SANDBOX_URL and prints one line for each test. With "books" it
 * prints the books of the run's folder as CSV instead.
 */
public class PayoutRunnerTest {
    static final String COMPANY = "00000000-0000-4000-8000-000000000002",
            ROHAN = "00000000-0000-4000-8000-000000000003", PRIYA = "00000000-0000-4000-8000-000000000004",
            KABIR = "00000000-0000-4000-8000-000000000005", ANANYA = "00000000-0000-4000-8000-000000000010",
            BANK = "b0000000-0000-4000-8000-0000000000";
    static final Map<String, String> ACCOUNTS = Map.of(ROHAN, BANK + "03", PRIYA, BANK + "04", ANANYA, BANK + "06");
    static final Sandbox SANDBOX = new Sandbox();

    interface Test {
        void run(Path journal) throws Exception;
    }

    static final class Crash extends Error {}

    /** The sandbox's clock, and its own view of the payments. */
    static final class Sandbox implements PayoutRunner.Time {
        final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        Instant frozenAt;

        Json admin(String path, Object body) throws IOException, InterruptedException {
            var request = HttpRequest.newBuilder(URI.create(System.getenv("PAYOUT_SANDBOX_ADMIN_URL") + path))
                    .header("Authorization", "Bearer " + System.getenv("PAYOUT_SANDBOX_TOKEN"))
                    .header("X-Admin-Token", System.getenv().getOrDefault("PAYOUT_SANDBOX_ADMIN_TOKEN", ""))
                    .header("Content-Type", "application/json").timeout(Duration.ofSeconds(20));
            if (body != null) request.POST(HttpRequest.BodyPublishers.ofString(Json.write(body)));
            var response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != 200) throw new IllegalStateException(response.body());
            return Json.read(response.body());
        }

        @Override
        public Instant now() {
            if (frozenAt != null) return frozenAt;
            try {
                Json clock = admin("/clock", null);
                Instant now = Instant.parse(clock.text("now"));
                if (clock.text("mode").equals("frozen")) frozenAt = now;
                return now;
            } catch (IOException | InterruptedException failure) {
                throw new IllegalStateException(failure);
            }
        }

        @Override
        public void sleep(Duration duration) throws IOException, InterruptedException {
            admin("/clock/advance", Json.object("by", duration.toString()));
            frozenAt = null;
        }

        List<Json> payments(String reference) throws IOException, InterruptedException {
            return admin("/transactions?search=" + reference, null).at("transactions").list();
        }
    }

    static PayoutRunner runner(Path journal, String crashAt) throws IOException {
        var api = new PayoutRunner.Api(System.getenv("PAYOUT_SANDBOX_URL"),
                System.getenv("PAYOUT_SANDBOX_TOKEN"), Duration.ofSeconds(5));
        return new PayoutRunner(api, SANDBOX, journal) {
            @Override
            protected void checkpoint(String name) {
                if (name.equals(crashAt)) throw new Crash();
            }
        };
    }

    static PayoutRunner.Order salary(String reference, String payee, long paise, Instant due) {
        return new PayoutRunner.Order(reference, COMPANY, payee, ACCOUNTS.get(payee), paise, due);
    }

    static void check(Object expected, Object actual, String what) {
        if (Objects.equals(expected, actual)) return;
        throw new AssertionError(what + ": expected " + expected + ", found " + actual);
    }

    static void checkPaid(PayoutRunner runner, String reference) throws Exception {
        var payout = runner.payout(reference);
        check(PayoutRunner.State.SUCCESS, payout.state, reference + " (" + payout.note + ")");
        var payments = SANDBOX.payments(reference);
        check(1, payments.size(), "payments of " + reference);
        String rupees = BigDecimal.valueOf(payout.order.paise(), 2).toPlainString();
        check(rupees, payments.get(0).text("amount"), "amount of " + reference);
    }

    static void aNewCustomerGetsARefundWhenItIsDue(Path journal) throws Exception {
        try (PayoutRunner runner = runner(journal, null)) {
            String account = runner.verify(new PayoutRunner.Payee(KABIR, "Kabir Singh", "15-08-1990", "XXXPX1234A",
                    "999999991234", "999912345678", "HDFC0000001"));
            Instant due = SANDBOX.now().plus(Duration.ofHours(1));
            runner.plan(new PayoutRunner.Order("REFUND-8841", COMPANY, KABIR, account, 129950, due));
            runner.run(Duration.ofMinutes(30));
            check(0, SANDBOX.payments("REFUND-8841").size(), "payments before the due time");
            runner.run(Duration.ofHours(3));
            checkPaid(runner, "REFUND-8841");
        }
    }

    static void aSalaryFileThatComesTwiceIsPaidOnce(Path journal) throws Exception {
        Instant due = SANDBOX.now();
        for (int run = 1; run <= 2; run++) {
            try (PayoutRunner runner = runner(journal, null)) {
                runner.plan(salary("SAL-2025-12-ROHAN", ROHAN, 4_512_575, due));
                runner.plan(salary("SAL-2025-12-PRIYA", PRIYA, 6_100_000, due));
                runner.plan(salary("SAL-2025-12-ANANYA", ANANYA, 5_250_040, due));
                runner.run(Duration.ofHours(2));
                for (String name : List.of("ROHAN", "PRIYA", "ANANYA")) checkPaid(runner, "SAL-2025-12-" + name);
            }
        }
    }

    static void aCrashAfterTheCallIsRepaired(Path journal) throws Exception {
        crash(journal, "after the call", salary("BONUS-17", PRIYA, 700_050, SANDBOX.now()));
    }

    static void aCrashBeforeTheCallIsRepaired(Path journal) throws Exception {
        crash(journal, "before the call", salary("BONUS-18", ANANYA, 800_025, SANDBOX.now()));
    }

    static void crash(Path journal, String point, PayoutRunner.Order order) throws Exception {
        try (PayoutRunner runner = runner(journal, point)) {
            runner.plan(order);
            runner.run(Duration.ofHours(2));
            throw new AssertionError("no crash");
        } catch (Crash expected) {
            Files.writeString(journal, "STATE\t" + order.reference() + "\tHE", StandardOpenOption.APPEND);
        }
        try (PayoutRunner runner = runner(journal, null)) {
            runner.run(Duration.ofHours(2));
            checkPaid(runner, order.reference());
        }
    }

    static void aFailedPaymentIsKeptForAPersonAndTheOthersArePaid(Path journal) throws Exception {
        for (int run = 1; run <= 2; run++) {
            try (PayoutRunner runner = runner(journal, null)) {
                if (run == 1) runner.plan(salary("EXP-301", ROHAN, 10_092, SANDBOX.now()));
                if (run == 1) runner.plan(salary("EXP-302", PRIYA, 23_110, SANDBOX.now()));
                runner.run(Duration.ofHours(2));
                check(1, SANDBOX.payments("EXP-301").size(), "payments of EXP-301");
                boolean failed = SANDBOX.payments("EXP-301").get(0).text("transaction_status").equals("failed");
                check(failed, runner.payout("EXP-301").state == PayoutRunner.State.FAILED, "EXP-301 has failed");
                checkPaid(runner, "EXP-302");
            }
        }
    }

    static void twoMonthsOfSalariesAgreeWithTheProvider(Path journal) throws Exception {
        try (PayoutRunner runner = runner(journal, null)) {
            Instant january = SANDBOX.now();
            for (int month = 1; month <= 2; month++) {
                Instant due = january.plus(Duration.ofDays(31L * (month - 1)));
                runner.plan(salary("SAL-2026-0" + month + "-ROHAN", ROHAN, 4_650_000, due));
                runner.plan(salary("SAL-2026-0" + month + "-ANANYA", ANANYA, 5_350_000, due));
            }
            runner.run(Duration.ofDays(32));
            SANDBOX.sleep(Duration.ofDays(3));
            check(List.of(), runner.reconcile(), "alerts");
            for (int month = 1; month <= 2; month++) {
                for (String name : List.of("ROHAN", "ANANYA")) {
                    String reference = "SAL-2026-0" + month + "-" + name;
                    var payments = SANDBOX.payments(reference);
                    check(1, payments.size(), "payments of " + reference);
                    boolean arrived = payments.get(0).text("transaction_status").equals("success");
                    boolean booked = runner.payout(reference).state == PayoutRunner.State.SUCCESS;
                    check(arrived, booked, reference + " has arrived");
                    if (arrived)
                        check(payments.get(0).text("utr"), runner.payout(reference).utr, "UTR of " + reference);
                }
            }
        }
    }

    static void books(Path folder) throws IOException {
        var csv = new StringBuilder("reference,transaction_id,amount,status\n");
        try (var journals = Files.newDirectoryStream(folder, "*.tsv")) {
            for (Path journal : journals)
                try (PayoutRunner runner = runner(journal, null)) {
                    runner.books(csv);
                }
        }
        System.out.print(csv);
    }

    /** If the journals are kept, the next day's comparison with the provider; one that fails is due again tomorrow. */
    static void dayEnd(Path folder) throws Exception {
        SANDBOX.sleep(Duration.ofHours(26));
        try (var journals = Files.newDirectoryStream(folder, "*.tsv")) {
            for (Path journal : journals)
                try (PayoutRunner runner = runner(journal, null)) {
                    runner.reconcile();
                } catch (IOException failure) {
                    System.out.println("# " + journal.getFileName() + ": " + failure);
                }
        }
    }

    public static void main(String[] args) throws Exception {
        String kept = System.getenv("PAYOUT_SANDBOX_RUN_DIR");
        if (args.length > 0 && args[0].equals("books")) {
            books(Path.of(kept));
            return;
        }
        Map<String, Test> tests = new LinkedHashMap<>();
        tests.put("a new customer gets a refund when it is due", PayoutRunnerTest::aNewCustomerGetsARefundWhenItIsDue);
        tests.put("a salary file that comes twice is paid once", PayoutRunnerTest::aSalaryFileThatComesTwiceIsPaidOnce);
        tests.put("a crash after the call is repaired", PayoutRunnerTest::aCrashAfterTheCallIsRepaired);
        tests.put("a crash before the call is repaired", PayoutRunnerTest::aCrashBeforeTheCallIsRepaired);
        tests.put("a failed payment is kept for a person, and the others are paid",
                PayoutRunnerTest::aFailedPaymentIsKeptForAPersonAndTheOthersArePaid);
        tests.put("two months of salaries agree with the provider",
                PayoutRunnerTest::twoMonthsOfSalariesAgreeWithTheProvider);
        int number = 0, failed = 0;
        System.out.println("1.." + tests.size());
        for (var test : tests.entrySet()) {
            Path folder = kept == null ? Files.createTempDirectory("payout-runner-") : Path.of(kept);
            Path journal = folder.resolve("journal-" + (number + 1) + ".tsv");
            try {
                test.getValue().run(journal);
                System.out.println("ok " + ++number + " - " + test.getKey());
            } catch (Exception | AssertionError failure) {
                failed++;
                System.out.println("not ok " + ++number + " - " + test.getKey() + "\n  # " + failure);
            } finally {
                if (kept == null) {
                    Files.deleteIfExists(journal);
                    Files.delete(folder);
                }
            }
        }
        if (kept != null) dayEnd(Path.of(kept));
        System.exit(failed == 0 ? 0 : 1);
    }
}
