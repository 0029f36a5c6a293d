<?php

// A webhook handler for the receiver: a file that returns a function. This one fails at the first attempt of an event.
return function (array $event): void {
    if ($event['type'] === 'transaction.pending' && $_SERVER['HTTP_X_WEBHOOK_ATTEMPT'] === '1') {
        throw new RuntimeException('the first attempt fails');
    }
};
