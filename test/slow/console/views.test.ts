import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { ASHA, TOKEN } from '../../helper.ts'
import { noBrowser, openBrowser, openConsole } from './browser.ts'

const SECRET = 'whsec_dGhlLWNvbnNvbGUtaXMtdGVzdGVkLWhlcmU='

t.test('every view with data', { skip: noBrowser }, async (t) => {
  const browser = await openBrowser(t)
  const opened = await openConsole(t, browser)
  const { page, go, see, post, put, get, call, pay, advance, origin, assertNoErrors } = opened
  const webhook = { url: `${origin}/__admin/webhooks/inbox`, webhook_secret: SECRET }
  t.equal((await post('/v1/clientWebhook', webhook)).status, 200)
  await pay({ remark: 'for the view', reference_id: 'view-1', amount: 123.5 })
  await advance('1s')

  await t.test('deliveries, and one with request, response and signature', async (t) => {
    await go('deliveries')
    const rows = page.getByRole('table', { name: 'Deliveries' })
    const first = rows.getByRole('row').nth(1)
    await first.getByText('transaction.processing').waitFor()
    await first.getByText('delivered').waitFor()
    await first.getByRole('link').click()
    const bench = page.getByRole('region', { name: 'Attempt 1' })
    t.notMatch(await bench.textContent(), SECRET)
    await bench.getByRole('button', { name: 'Reveal' }).click()
    await bench.getByText(/^Two signatures, because the secret can be read as plain/).waitFor()
    const signed = (await bench.getByRole('group', { name: 'Signed text' }).textContent())!
    const mine = createHmac('sha256', SECRET).update(signed).digest('base64')
    const verdict = bench.getByRole('status')
    for (const [text, said] of [
      [mine, 'Equal: it verifies.'],
      [`v1,${mine}`, 'Equal: it verifies.'],
      [Buffer.from(mine, 'base64').toString('hex'), 'The same in hex, but'],
      [`${mine.slice(0, 4)}_${mine.slice(5)}`, 'is at character 5: yours has "_'],
      [createHmac('sha256', 'other').update(signed).digest('base64'), 'Not equal.'],
      [signed, 'Equal: you sign the right text.'],
      [signed.replace(/\{/, '{ '), 'Another text is signed. The first difference'],
    ] as const) {
      await bench.getByLabel('Compare with mine').fill(text)
      await verdict.filter({ hasText: said }).waitFor()
    }
    // What the page shows is what test/docs-webhooks.test.ts and `npm run languages` run.
    for (const [language, file] of Object.entries({
      Node: 'docs/webhooks.md',
      Python: 'clients/python/payout_sandbox.py',
      Java: 'clients/java/PayoutSandbox.java',
      Go: 'clients/go/payoutsandbox.go',
      PHP: 'clients/php/PayoutSandbox.php',
    })) {
      await bench.getByLabel('How to verify it').selectOption(language)
      const code = (await bench.getByRole('group', { name: language }).textContent())!
      t.ok(readFileSync(join(PACKAGE_ROOT, file), 'utf8').includes(code), language)
      t.match(code, /verify_?webhook\([\s\S]*the timestamp is too old or too new/i, language)
    }
    await bench.getByRole('button', { name: 'Copy: PHP' }).waitFor()
    await page.getByText('Request headers').click()
    await page.getByText('x-webhook-attempt').waitFor()
    const body = JSON.parse((await page.getByRole('group', { name: 'Body' }).textContent())!)
    t.equal(body.type, 'transaction.processing')
    await page.locator('summary', { hasText: /^Response$/ }).click()
    await page.getByRole('group', { name: 'Response' }).getByText('"verified": true').waitFor()
    await go('deliveries')
    await page.getByLabel('Status', { exact: true }).selectOption('failed')
    await see('No delivery matches.')
  })

  await t.test('a signature that a rule forged', async (t) => {
    for (const [then, text] of [
      [{ signature: 'wrong' }, 'Forged by rule inline: trick: signed with another secret'],
      [{ signature: 'missing' }, 'Forged by rule inline: trick: no signature was sent'],
      [{ timestamp: 'stale' }, 'Forged by rule inline: trick: the timestamp is one hour before'],
      [{ body: 'truncated' }, 'Truncated by rule inline: trick'],
    ] as const) {
      const webhooks = [{ name: 'trick', when: { event: 'user.created' }, then }]
      await put('/__admin/scenario', { definition: { webhooks } })
      const made = await post('/__admin/webhooks/trigger', { event: 'user.created' })
      await go(`deliveries/${made.body.deliveries[0].delivery_id}`)
      await see(text)
    }
    t.equal((await put('/__admin/scenario', { name: 'default' })).status, 200)
  })

  await t.test('requests with filter and matched rule', async (t) => {
    await post('/__admin/rules', {
      name: 'closed for the view',
      when: { operation: 'getUser' },
      times: 1,
      then: { respond: { status: 503 } },
    })
    t.equal((await get(`/v1/user/${ASHA}?a=it's`)).status, 503)
    await go('requests')
    const rows = page.getByRole('table', { name: 'Requests' })
    await rows.getByText('closed for the view').waitFor()
    const all = await rows.getByRole('row').count()
    await page.getByLabel('Search').fill('get 503')
    await page.getByText(`1 of ${all - 1} calls`).waitFor()
    t.equal(await rows.getByRole('row').count(), 2)
    await rows.getByRole('link').click()
    await page.getByRole('heading', { name: /GET \/v1\/user/ }).waitFor()
    await see('closed for the view')
    const unread = { method: 'POST', headers: { authorization: 'Bearer who' }, body: '{}' }
    t.equal((await fetch(`${origin}/v1/user`, unread)).status, 401)
    await go(`requests/${(await get('/__admin/requests?limit=1')).body.requests[0].request_id}`)
    await see('It isn’t kept: the call was rejected before it was read')
    t.equal(await page.getByText('numbers are masked in the log').count(), 0)
  })

  await t.test('a call with a body as curl, for any shell', async (t) => {
    const remark = `it's "quoted" $(true) \\ \`x\``
    await pay({ amount: 7, remark }, { 'x-note': 'omitted', 'idempotency-key': `a 'b' "c"` })
    const [call] = (await get('/__admin/requests')).body.requests
    await go(`requests/${call.request_id}`)
    await page.getByRole('heading', { name: 'POST /v1/transaction' }).waitFor()
    const button = page.locator('main').getByRole('button', { name: 'Copy as curl' })
    const line = (await button.getAttribute('title'))!
    const words = spawnSync('sh', ['-c', `set -- ${line}; printf '%s\\n' "$@"`])
      .stdout.toString()
      .split('\n')
    t.same(words.slice(0, 4), ['curl', '-X', 'POST', `${origin}/v1/transaction`])
    t.same(
      words.filter((_, i) => words[i - 1] === '-H'),
      [
        `authorization: ${TOKEN.authorization}`,
        `idempotency-key: a 'b' "c"`,
        'content-type: application/json',
      ],
      'what it needs to run, and no more',
    )
    t.equal(JSON.parse(words[words.indexOf('--data-raw') + 1]!).remark, remark)
  })

  await t.test('scenarios: list, source with line numbers and rule hits', async (t) => {
    await go('scenarios')
    await page.getByRole('link', { name: 'late-reversals' }).waitFor()
    await pay({ amount: 100.91 })
    await go('scenarios/default')
    const { body } = await get('/__admin/scenarios/default')
    const source = page.getByRole('region', { name: 'Source' })
    await source.getByText('rules:').first().waitFor()
    const lines: string[] = body.source.split('\n')
    t.equal(await source.getByRole('row').count(), lines.length + 1)
    const acted = body.rules.filter(({ hits }: { hits: number }) => hits > 0)
    t.ok(acted.length > 0, 'a rule matched the payment')
    for (const { line, hits } of acted) {
      const cells = await source.getByRole('row').nth(line).getByRole('cell').allTextContents()
      t.equal(cells[0], String(line))
      t.equal(cells[1], `${hits} ×`)
    }
  })

  await t.test('the values that decide about a payment, in its form', async (t) => {
    const { magic_values: all } = (await get('/__admin/magic-values')).body
    const ofPayments = all.filter(
      (one: { operation: string }) => one.operation === 'createTransaction',
    )
    await go('payments?make=100')
    await page.getByText('Values that decide what happens').click()
    const values = page.locator('details', { hasText: 'They apply where no rule' }).last()
    await values.getByText(ofPayments[0].outcome).first().waitFor()
    t.equal(await values.locator('dt').count(), ofPayments.length)
  })

  await t.test('a view that does not exist', async () => {
    await go('nowhere')
    await see('There is no such view')
  })

  await t.test('an address that cannot be read', async () => {
    await page.goto(`${origin}/__admin/#/payments/%`)
    await page.reload()
    await page.getByRole('alert').getByText('id').waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await see('What happened')
  })

  await t.test('an empty inbox says where the events go', async () => {
    await put('/v1/clientWebhook', { ...webhook, url: 'http://127.0.0.1:9/' })
    await call('DELETE', '/__admin/webhooks/inbox')
    await go('inbox')
    await see('No messages yet: events go to http://127.0.0.1:9/.')
  })

  await t.test('the page reports no errors', async (t) => assertNoErrors(t))
})
