<?php

declare(strict_types=1);

// Run it: php test.php
require __DIR__ . '/../PayoutSandbox.php';
require __DIR__ . '/Payouts.php';

use PayoutSandbox\Rejected;
use PayoutSandbox\Sandbox;
use PayoutSandbox\World;

// Asha pays Rohan. Both are in the sandbox's example data: see fixtures/README.md.
const PAYOUT = [
    'from_user_id' => '00000000-0000-4000-8000-000000000001',
    'to_user_id' => '00000000-0000-4000-8000-000000000003',
    'benif_bank_id' => 'b0000000-0000-4000-8000-000000000003',
    'amount' => 100,
    'reference_id' => 'salary-2026-01',
];

// What PHP's streams report if a scenario breaks the response.
const FAULTS = [
    'reset' => 'Failed to open stream: HTTP request failed!',
    'empty' => 'Failed to open stream: HTTP request failed!',
    'truncate' => 'not JSON: Syntax error',
    'malformed' => 'not JSON: Syntax error',
    'hang' => 'Failed to open stream: HTTP request failed!',
];

function same(mixed $expected, mixed $found): void
{
    if ($expected !== $found) {
        throw new UnexpectedValueException('expected ' . json_encode($expected) . ', found ' . json_encode($found));
    }
}

/** Returns what a function throws. */
function thrown(callable $run): Throwable
{
    try {
        $run();
    } catch (Throwable $thrown) {
        return $thrown;
    }
    throw new UnexpectedValueException('nothing was thrown');
}

$tests = [];

$tests['a payment arrives'] = function (World $world, Payouts $payouts) {
    $payouts->pay(PAYOUT);
    same('PENDING', $payouts->status(PAYOUT));
    same(['PROCESSING', 'SUCCESS'], array_column($world->advance('3s'), 'status'));
    same('SUCCESS', $payouts->status(PAYOUT));
};

$tests['a payment of 100.92 fails'] = function (World $world, Payouts $payouts) {
    $payouts->pay(['amount' => 100.92] + PAYOUT);
    $world->advance('1h');
    same('FAILED', $payouts->status(PAYOUT));
};

$tests['a response is lost, and the money moves once'] = function (World $world, Payouts $payouts) {
    $world->save('before');
    $world->scenario('lost-responses');
    $payouts->pay(PAYOUT);
    same(1, count($world->diff('before')['payments']['added']));
    $world->verify(['operation' => 'createTransaction'], 1);
};

foreach (FAULTS as $fault => $message) {
    $tests["a broken response: $fault"] = function (World $world) use ($fault, $message) {
        $payouts = new Payouts($world->url, $world->token, $fault === 'hang' ? 1 : 5);
        $world->rule(['when' => ['operation' => 'getClientProfile'], 'then' => ['fault' => $fault]]);
        $failure = thrown(fn () => $payouts->call('GET', '/client/profile'));
        same([Lost::class, true], [$failure::class, str_ends_with(trim($failure->getMessage()), $message)]);
        // The payment is made all the same, and pay() pays once.
        $lost = ['fault' => $fault, 'at' => 'after'];
        $world->rule(['when' => ['operation' => 'createTransaction'], 'then' => $lost, 'times' => 1]);
        $payouts->pay(PAYOUT);
        $world->verify(['operation' => 'createTransaction'], 1);
    };
}

$tests['a payment is pending for 25 minutes'] = function (World $world, Payouts $payouts) {
    $slow = [['status' => 'PENDING'], ['status' => 'SUCCESS', 'after' => '25m']];
    $world->rule(['when' => ['operation' => 'createTransaction'], 'then' => ['transaction' => $slow]]);
    $start = $world->now();
    $payouts->pay(PAYOUT);
    $world->advance('PT24M59S');
    same('PENDING', $payouts->status(PAYOUT));
    $world->advance('1s');
    same('SUCCESS', $payouts->status(PAYOUT));
    same(25 * 60, $world->now()->getTimestamp() - $start->getTimestamp());
};

$tests['code that polls sees the end'] = function (World $world, Payouts $payouts) {
    $world->resume(1000);
    $payouts->pay(PAYOUT);
    $world->wait('transaction', ['reference_id' => PAYOUT['reference_id'], 'transaction_status' => 'success']);
    same('SUCCESS', $payouts->status(PAYOUT));
};

$tests['webhooks are verified'] = function (World $world, Payouts $payouts) {
    $receiver = $world->receiver();
    $payouts->pay(PAYOUT);
    $world->advance('3s');
    $names = array_column($receiver->received(), 'type');
    same(['transaction.pending', 'transaction.processing', 'transaction.success'], $names);
    $world->scenario('webhook-bad-signatures');
    $payouts->pay(['reference_id' => 'salary-2026-02'] + PAYOUT);
    $world->advance('3s');
    same(3, count($receiver->received()));
    $reasons = array_unique($receiver->received('refused'));
    sort($reasons);
    same(['the signature does not fit', 'the timestamp is too old or too new'], $reasons);
    $receiver->close();
};

$tests['a handler that throws gets the event again'] = function (World $world, Payouts $payouts) {
    $receiver = $world->receiver(__DIR__ . '/handler-that-fails-once.php');
    $payouts->pay(PAYOUT);
    $world->advance('1s');
    $ids = array_count_values(array_column($receiver->received(), 'id'));
    same([1, 2], [min($ids), max($ids)]);
    $receiver->close();
};

$tests['the other calls'] = function (World $world, Payouts $payouts, Sandbox $sandbox) {
    $payouts->pay(PAYOUT);
    $failure = thrown(fn () => $world->verify(['body' => ['reference_id' => 'INV-8']], 1));
    same([Rejected::class, 'verification_failed'], [$failure::class, $failure->error]);
    same(true, str_contains($failure->getMessage(), 'INV-8'));
    $world->verify(['operation' => 'createTransaction'], atLeast: 1);
    $failure = thrown(fn () => $world->rule(['when' => ['operation' => '*'], 'then' => ['x' => 1, 'y' => 1]]));
    same([2, true], [count($failure->errors), str_contains($failure->getMessage(), "\nthen.y: unknown key")]);
    $world->save('paid');
    $success = ['reference_id' => PAYOUT['reference_id'], 'transaction_status' => 'success'];
    $world->wait('transaction', $success, advance: '2d');
    same(1, count($world->reconcile([], from: '2026-01-01')['differences']));
    same([], $world->reconcile([], date: '2025-12-31')['differences']);
    same([], $world->reconcile([], to: '2024-12-31')['differences']);
    $world->restore('paid');
    same('PENDING', $payouts->status(PAYOUT));
    $before = $sandbox->world('other')->assume([]);
    same('oldest_first', $world->assume(['list_order' => 'oldest_first'])['list_order']);
    same($before, $sandbox->world('other')->assume([]));
    same(InvalidArgumentException::class, thrown(fn () => $sandbox->world('Bad Name'))::class);
};

$tests['the books agree after two days'] = function (World $world, Payouts $payouts) {
    $back = [['status' => 'PENDING'], ['status' => 'SUCCESS', 'after' => '3s'], ['status' => 'FAILED', 'after' => '1d']];
    $when = ['operation' => 'createTransaction', 'body' => ['reference_id' => 'comes back']];
    $world->rule(['when' => $when, 'then' => ['transaction' => $back]]);
    $amounts = ['paid' => 100, 'fails' => 100.91, 'comes back' => 300];
    foreach ($amounts as $reference_id => $amount) {
        $payouts->pay(compact('reference_id', 'amount') + PAYOUT);
    }
    $world->advance('2d');
    $books = []; // yours would be in your database
    foreach ($amounts as $reference => $amount) {
        $status = $payouts->status(['reference_id' => $reference] + PAYOUT);
        $books[] = compact('reference', 'amount', 'status');
    }
    same([], $world->reconcile($books)['differences']);
};

$tests['a sandbox that cannot start says why'] = function () {
    [$url, $bin] = [getenv('PAYOUT_SANDBOX_URL'), getenv('PAYOUT_SANDBOX_BIN')];
    foreach ([
        'PAYOUT_SANDBOX_URL=http://127.0.0.1:1/v1' => 'found no sandbox at %s (.*Connection refused): start one there',
        'PAYOUT_SANDBOX_BIN=/no/such/program' => 'cannot run /no/such/program: set PAYOUT_SANDBOX_BIN to',
        'PAYOUT_SANDBOX_BIN=echo' => 'echo printed "start .*, not JSON: set PAYOUT_SANDBOX_BIN to',
        'PAYOUT_SANDBOX_BIN=false' => 'false ended with exit code 1: see its message',
    ] as $variable => $message) {
        putenv('PAYOUT_SANDBOX_URL');
        putenv($variable);
        $found = thrown(fn () => new Sandbox())->getMessage();
        foreach (explode('.*', sprintf($message, $variable)) as $part) {
            same(true, str_contains($found, $part) ?: $found);
        }
    }
    putenv($url === false ? 'PAYOUT_SANDBOX_URL' : "PAYOUT_SANDBOX_URL=$url");
    putenv("PAYOUT_SANDBOX_BIN=$bin");
};

$sandbox = new Sandbox();
$world = $sandbox->world();
$failed = 0;
foreach ($tests as $name => $test) {
    try {
        $world->reset();
        $world->freeze();
        $test($world, new Payouts($world->url, $world->token), $sandbox);
        echo "ok - $name\n";
    } catch (Throwable $failure) {
        $failed++;
        echo "not ok - $name\n  $failure\n";
    }
}
echo '1..' . count($tests) . "\n";
exit($failed > 0 ? 1 : 0);
