<?php

declare(strict_types=1);

/** A response with an error status. */
final class Rejection extends RuntimeException
{
}

/** No response, or a broken one: nobody knows whether the call was carried out. */
final class Lost extends RuntimeException
{
}

/** The code to test: it makes a payment and reads its status. */
final class Payouts
{
    private const TRIES = 3;
    private const LONGEST_WAIT = 2;

    public function __construct(private string $url, private string $token, private float $timeout = 5)
    {
    }

    /**
     * Pays once, also if a response is lost: before each try it looks for the payment in the history. If it throws
     * after the last try, call it again later.
     */
    public function pay(array $payout): void
    {
        for ($attempt = 1; $this->find($payout) === null; $attempt++) {
            try {
                $this->call('POST', '/transaction', $payout);
                return;
            } catch (Rejection | Lost $failure) {
                if ($attempt === self::TRIES || $failure instanceof Rejection && $failure->getCode() < 500) {
                    throw $failure;
                }
            }
        }
    }

    /** Returns PENDING, PROCESSING, SUCCESS, FAILED, or null if the history does not have the payment. */
    public function status(array $payout): ?string
    {
        return $this->find($payout)['status'] ?? null;
    }

    private function find(array $payout): ?array
    {
        for ($page = 1, $pages = 1; $page <= $pages; $page++) {
            $history = $this->call('GET', "/transaction/history/user/{$payout['from_user_id']}?page=$page");
            foreach ($history['transactions'] as $payment) {
                if ($payment['client_transaction_id'] === $payout['reference_id']) {
                    return $payment;
                }
            }
            $pages = $history['total_pages'];
        }
        return null;
    }

    public function call(string $method, string $path, ?array $body = null): array
    {
        $http = [
            'method' => $method,
            'header' => ["Authorization: Bearer $this->token", 'Content-Type: application/json'],
            'content' => $body === null ? '' : json_encode($body),
            'timeout' => $this->timeout,
            'ignore_errors' => true,
        ];
        error_clear_last();
        $text = @file_get_contents($this->url . $path, false, stream_context_create(['http' => $http]));
        if ($text === false) {
            throw new Lost(error_get_last()['message'] ?? 'no response');
        }
        // A response that was cut is no error for PHP: the text is just shorter.
        $response = json_decode($text, true) ?? throw new Lost('not JSON: ' . json_last_error_msg());
        $status = (int) explode(' ', $http_response_header[0])[1];
        if ($status < 300) {
            return $response['data'];
        }
        // The next try comes no sooner than the service asks for.
        $asked = preg_filter('/^retry-after: /i', '', $http_response_header);
        sleep(min((int) end($asked), self::LONGEST_WAIT));
        throw new Rejection($response['message'], $status);
    }
}
