// tools/mcp/: the server for agents: tools, resources and prompts of the Model Context Protocol. Each tool calls the admin
// API or the service as any caller does.

export type Prompt = {
  name: string
  title: string
  description: string
  arguments: readonly { name: string; description: string; required: boolean }[]
  text(given: Readonly<Record<string, string>>): string
}

export const PROMPTS: readonly Prompt[] = [
  {
    name: 'integrate_payment',
    title: 'Integrate a payment from nothing',
    description: 'Writes an integration that pays, survives failures, and has tests.',
    arguments: [{ name: 'language', description: 'Such as Python.', required: false }],
    text: ({ language }) =>
      [
        `Integrate payouts into this project${language ? ` in ${language}` : ''}, against the payout sandbox. It moves no money.`,
        '1. Call look for the address, and for the token or where it is. Read payout-sandbox://contract/createTransaction and the resources of the other calls that you need, and payout-sandbox://docs/languages.md for the clients and traps of the language.',
        '2. Try the calls with call_service: create two users, submit KYC documents, add a bank account for the receiver, and make a payment. Use advance_clock until each is done.',
        '3. Write the code: read the address and the token from PAYOUT_SANDBOX_URL and PAYOUT_SANDBOX_TOKEN, send a reference_id that is new for each payment, and never count pending as sent.',
        '4. Break it: make_call_fail with reset_after, hang_after, respond_504_after, respond_429 and payment_failed. After a lost response, look for the payment by its reference before you send again. verify_requests proves that money left once.',
        '5. Receive webhooks: verify the signature as payout-sandbox://docs/webhooks.md says, and accept repeated and reordered events. send_webhook tests your handler.',
        '6. Write tests for success, failure, a lost response and 25 minutes of waiting. If run_sweep exists, run it and correct each finding.',
        'Report what you built, which assumptions it relies on (assumptions), and what is not tested.',
      ].join('\n'),
  },
  {
    name: 'find_out_why_a_test_failed',
    title: 'Find out why a test failed',
    description: 'Finds the cause of a failed test in what the sandbox saw.',
    arguments: [{ name: 'test', description: 'Its name or its output.', required: true }],
    text: ({ test = '' }) =>
      [
        'A test against the payout sandbox failed. Find the cause; do not change the test before you know it.',
        `The test: ${test}`,
        '1. Call look. Does the test use this address and this client? Is the clock frozen? Which scenario is active? What failed?',
        '2. Call find_requests: did the calls arrive, with the bodies that you expect? An empty log means another address or client.',
        '3. For a payment, call explain_payment with its reference: its course, what decided it, and what happens next. If it is pending and the clock is frozen, the test must advance the clock.',
        '4. For a webhook, call read_webhooks: was it sent, and what did the receiver respond?',
        '5. Save the state with snapshot, repeat the last step with call_service or the test, and compare.',
        'Say the cause in one sentence, who is wrong (the code, the test, a rule of the scenario, or an assumption), and the smallest correction.',
      ].join('\n'),
  },
]
