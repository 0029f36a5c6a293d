<?php

/** A client of payout-sandbox for tests with PHP 8. It needs no library: copy this file into your project. */

declare(strict_types=1);

namespace PayoutSandbox;

/** The sandbox rejected a call. The error code is one of docs/errors.md. */
final class Rejected extends \RuntimeException
{
    public function __construct(public int $status, public string $error, string $message, public array $errors)
    {
        $lines = array_map(fn ($one) => "\n{$one['field']}: {$one['message']}", count($errors) > 1 ? $errors : []);
        parent::__construct($message . implode('', $lines), $status);
    }
}

/** The sandbox at PAYOUT_SANDBOX_URL, or a new one with these options: in memory, with a frozen clock. */
final class Sandbox
{
    private string $root;
    private ?string $adminToken;
    private mixed $process = null;
    private mixed $stdin = null;

    public function __construct(string ...$options)
    {
        $this->adminToken = getenv('PAYOUT_SANDBOX_ADMIN_TOKEN') ?: null;
        $url = getenv('PAYOUT_SANDBOX_URL') ?: $this->start($options);
        $this->root = preg_replace('~(/@[^/]+)?(/v1)?/*$~', '', $url);
        try {
            $this->process || (new World($this->root, '', null))->call('GET', '/__admin/health');
        } catch (\Throwable $failure) {
            $why = "PAYOUT_SANDBOX_URL=$url ({$failure->getMessage()})";
            throw new \RuntimeException("found no sandbox at $why: start one there, or unset the variable", 0, $failure);
        }
    }

    private function start(array $options): string
    {
        $program = getenv('PAYOUT_SANDBOX_BIN') ?: 'payout-sandbox';
        $command = [$program, 'start', '--memory', '--port', '0', '--json', '--stop-with-stdin', ...$options];
        $env = getenv() + ['PAYOUT_SANDBOX_CLOCK' => 'frozen', 'PAYOUT_SANDBOX_LOG_LEVEL' => 'warn'];
        $this->process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes, null, $env);
        $ready = json_decode($line = $this->process ? (string) fgets($pipes[1]) : '', true);
        if (!isset($ready['url'])) {
            $line === '' || proc_terminate($this->process);
            $code = $this->process ? proc_close($this->process) : 127; // 127: there was nothing to run
            $hint = 'set PAYOUT_SANDBOX_BIN to the path of payout-sandbox, or PAYOUT_SANDBOX_URL to a running sandbox';
            throw new \RuntimeException(match (true) {
                $line !== '' => "$program printed " . json_encode($line) . ", not JSON: $hint",
                $code === 127 => "cannot run $program: $hint",
                default => "$program ended with exit code $code: see its message",
            });
        }
        [$this->stdin, $this->adminToken] = [$pipes[0], $ready['admin_token'] ?? null];
        register_shutdown_function([$this, 'close']);
        return $ready['url'];
    }

    /** Returns a client by its name: 1 to 63 of a-z, 0-9 and -. The default is one for each worker of ParaTest. */
    public function world(?string $name = null): World
    {
        $name ??= 'php-' . (getenv('TEST_TOKEN') ?: '1');
        if (!preg_match('/^[a-z0-9][a-z0-9-]{0,62}$/D', $name)) {
            throw new \InvalidArgumentException("a world is named with 1 to 63 of a-z, 0-9 and -, not '$name'");
        }
        return new World("$this->root/@$name", "sbx_$name", $this->adminToken);
    }

    /** Stops the sandbox, if this object started it. */
    public function close(): void
    {
        if ($this->process) {
            fclose($this->stdin);
            proc_close($this->process);
            $this->process = null;
        }
    }
}

/** One client of a sandbox. It shares no users, payments, clock, scenario or webhook with other worlds. */
final class World
{
    /** What the code under test needs, with the token. */
    public string $url;

    public function __construct(private string $base, public string $token, private ?string $adminToken) { $this->url = "$base/v1"; }

    /** Makes a call such as call('GET', '/__admin/clock'), and returns its response. */
    public function call(string $method, string $path, ?array $body = null): array
    {
        $header = "Authorization: Bearer $this->token\r\nX-Admin-Token: $this->adminToken\r\nContent-Type: application/json";
        $content = $body === null ? '' : json_encode((object) $body, JSON_THROW_ON_ERROR);
        $http = compact('method', 'header', 'content') + ['ignore_errors' => true, 'timeout' => 120];
        $text = @file_get_contents($this->base . $path, false, stream_context_create(['http' => $http]));
        if ($text === false) {
            throw new \RuntimeException(error_get_last()['message']);
        }
        $result = json_decode($text, true, flags: JSON_THROW_ON_ERROR);
        if (isset($result['error'])) {
            throw new Rejected($result['code'], $result['error'], $result['message'], $result['errors']);
        }
        return $result;
    }

    /** Restores fixtures, clock and scenario. */
    public function reset(): void { $this->call('POST', '/__admin/reset', []); }

    /** Stops the clock. */
    public function freeze(): void { $this->call('POST', '/__admin/clock/freeze', []); }

    /** Lets the clock run, for code that polls: resume(60) runs a minute of this world in a second. */
    public function resume(?float $speed = null): void
    {
        $this->call('POST', '/__admin/clock/resume', []);
        $speed === null || $this->call('POST', '/__admin/clock/speed', ['factor' => $speed]);
    }

    /** Returns the time of the clock. */
    public function now(): \DateTimeImmutable
    {
        return new \DateTimeImmutable($this->call('GET', '/__admin/clock')['now']);
    }

    /** Moves the clock by a duration such as '25m'. Returns the timers that ran, when all has settled. */
    public function advance(string $by): array
    {
        return $this->call('POST', '/__admin/clock/advance', ['by' => $by])['fired'];
    }

    /** Activates a scenario. */
    public function scenario(string $name): void { $this->call('PUT', '/__admin/scenario', ['name' => $name]); }

    /** Puts a rule before the scenario: rule(['when' => [...], 'then' => [...], 'times' => 1]). */
    public function rule(array $rule): void { $this->call('POST', '/__admin/rules', $rule); }

    /** Chooses readings of docs/assumptions.md; null undoes a choice. Returns all readings in force. */
    public function assume(array $readings): array
    {
        return array_column($this->call('PUT', '/__admin/assumptions', $readings)['assumptions'], 'reading', 'name');
    }

    /** Throws unless exactly this number of calls match, or with verify($match, atLeast: 1) at least this number. */
    public function verify(array $match, ?int $exactly = null, ?int $atLeast = null): void
    {
        $count = array_filter(['exactly' => $exactly, 'at_least' => $atLeast], 'is_int');
        $this->call('POST', '/__admin/requests/verify', ['match' => (object) $match] + $count);
    }

    /**
     * Returns a 'request', 'transaction', 'kyc' or 'delivery' as soon as one matches, or throws. With advance: '2d' it moves
     * a frozen clock on meanwhile, by at most two days.
     */
    public function wait(string $what, array $match, int $timeoutMs = 10000, ?string $advance = null): array
    {
        $body = ['for' => $what, 'match' => (object) $match, 'timeout_ms' => $timeoutMs, 'advance' => $advance];
        return $this->call('POST', '/__admin/wait', $body)[$what];
    }

    /** Compares your books with what really happened, or with the statement of some days: see docs/books.md. */
    public function reconcile(array $rows, ?string $date = null, ?string $from = null, ?string $to = null): array
    {
        return $this->call('POST', '/__admin/reconcile', compact('rows', 'date', 'from', 'to'));
    }

    /** Saves the state as a snapshot. */
    public function save(string $snapshot): void { $this->call('POST', '/__admin/snapshots', ['name' => $snapshot]); }

    /** Goes back to a snapshot. */
    public function restore(string $snapshot): void { $this->call('POST', "/__admin/snapshots/$snapshot/restore", []); }

    /** Returns what was added, removed and changed since a snapshot, by table. */
    public function diff(string $snapshot): array
    {
        return $this->call('GET', "/__admin/snapshots/$snapshot/diff")['tables'];
    }

    /** Registers the webhook of this client. */
    public function registerWebhook(string $url, string $secret): void
    {
        $this->call('POST', '/v1/clientWebhook', ['url' => $url, 'webhook_secret' => $secret]);
    }

    /** Registers a receiver until the script ends. $handler is a file that returns a function: it gets each genuine event. */
    public function receiver(string $handler = ''): Receiver
    {
        $secret = bin2hex(random_bytes(16));
        $receiver = new Receiver($secret, $handler);
        $this->registerWebhook($receiver->url, $secret);
        return $receiver;
    }
}

/** Throws unless the webhook is genuine and new. Call it with $_SERVER and file_get_contents('php://input'). */
function verify_webhook(array $server, string $body, string $secret): void
{
    $timestamp = $server['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    $signed = ($server['HTTP_WEBHOOK_ID'] ?? '') . ".$timestamp.$body";
    $right = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $secret, true));
    $given = explode(' ', $server['HTTP_WEBHOOK_SIGNATURE'] ?? '');
    if (!array_filter($given, fn ($one) => hash_equals($right, $one))) {
        throw new \RuntimeException('the signature does not fit');
    }
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > 300) {
        throw new \RuntimeException('the timestamp is too old or too new');
    }
}

/** Receives webhooks in PHP's built-in server, because a test waits while webhooks arrive. It ends with the test. */
final class Receiver
{
    public string $url;
    private string $dir;
    private mixed $process;
    private array $pipes = [];

    public function __construct(string $secret, string $handler = '')
    {
        $this->dir = sys_get_temp_dir() . '/payout-webhooks-' . bin2hex(random_bytes(8));
        $env = ['PAYOUT_RECEIVER' => json_encode([$this->dir, $secret, $handler])] + getenv();
        $command = [PHP_BINARY, '-r', 'require $argv[1]; PayoutSandbox\Receiver::serve($argv[2]);', __FILE__, $this->dir];
        $this->process = proc_open($command, [['pipe', 'r'], ['pipe', 'w']], $this->pipes, null, $env);
        $this->url = trim(fgets($this->pipes[1])) ?: throw new \RuntimeException('php -S did not start');
        register_shutdown_function([$this, 'close']);
    }

    /** Runs the server until the standard input closes: then the test has ended, even if a signal killed it. */
    public static function serve(string $dir): void
    {
        function_exists('pcntl_signal') && pcntl_signal(SIGINT, SIG_IGN); // Ctrl-C ends the test
        mkdir($dir, 0700);
        $command = [PHP_BINARY, '-q', '-S', '127.0.0.1:0', __FILE__]; // -q: the pipe must not fill
        $server = proc_open($command, [2 => ['pipe', 'w']], $pipes);
        do {
            $line = fgets($pipes[2]);
        } while ($line && !preg_match('~http://[\d.:]+~', $line, $found));
        echo ($found[0] ?? '') . "\n";
        stream_get_contents(STDIN);
        proc_terminate($server);
        proc_close($server);
        array_map('unlink', glob("$dir/*"));
        rmdir($dir);
    }

    /** Returns the genuine 'events' so far, or why others were 'refused'. */
    public function received(string $what = 'events'): array
    {
        return array_map(fn ($line) => json_decode($line, true), @file("$this->dir/$what") ?: []);
    }

    public function close(): void
    {
        if (is_resource($this->process)) {
            fclose($this->pipes[0]);
            proc_close($this->process);
        }
    }
}

if (PHP_SAPI === 'cli-server' && getenv('PAYOUT_RECEIVER')) {
    [$dir, $secret, $handler] = json_decode(getenv('PAYOUT_RECEIVER'));
    $body = file_get_contents('php://input');
    $add = fn ($file, $line) => file_put_contents("$dir/$file", "$line\n", FILE_APPEND | LOCK_EX);
    try {
        verify_webhook($_SERVER, $body, $secret);
    } catch (\RuntimeException $reason) {
        $add('refused', json_encode($reason->getMessage()));
        http_response_code(401);
        return;
    }
    $add('events', $body);
    http_response_code(500);
    $handler === '' || (require $handler)(json_decode($body, true));
    http_response_code(204);
}
