import t from 'tap'
import { type SandboxOptions, startSandbox } from '../../src/index.ts'

/** What a start with these options is refused with; a start that is not refused is stopped. */
const refusal = (options: object) =>
  startSandbox(options as SandboxOptions).then(
    async (sandbox) => {
      await sandbox.close()
      return 'started'
    },
    (error: Error) => error.message,
  )

t.test('a value of another type is refused; nothing is read out of a text', async (t) => {
  const cases: [options: object, message: string][] = [
    [{ port: '0' }, 'port takes a number, not a string ("0")'],
    [{ port: Number.NaN }, 'port takes a whole number from 0 to 65535, not NaN'],
    [{ port: null }, 'port takes a number, not null'],
    [{ clockSpeed: '60' }, 'clockSpeed takes a number, not a string ("60")'],
    [{ randomSeed: true }, 'randomSeed takes a number, not true or false'],
    [{ memory: 'true' }, 'memory takes true or false, not a string ("true")'],
    [{ watch: 1 }, 'watch takes true or false, not a number'],
    [{ data: 7 }, 'data takes a string, not a number'],
    [{ clock: new Date(0) }, 'clock takes a string, not an object'],
    [{ allowHost: 'a.example' }, 'allowHost takes an array of strings, not a string ("a.example")'],
    [{ webhookAllow: [1] }, 'webhookAllow takes an array of strings, not another array'],
    [{ adminToken: 7 }, 'adminToken takes a string, not a number'],
    [{ noAdmin: 'sec' }, 'noAdmin takes true or false, not a string ("sec")'],
    [{ clock: 'soon' }, 'clock takes real, frozen, or an ISO 8601 instant from 1970 to 9999'],
    [{ 'random-seed': 2 }, 'unknown option random-seed (did you mean randomSeed?)'],
    [{ clockSped: 2 }, 'unknown option clockSped (did you mean clockSpeed?)'],
    [{ frozen: true }, "unknown option frozen (did you mean clock: 'frozen'?)"],
    [{ assume: 'list_order=oldest_first' }, 'assume takes an object, not a string ("list_order='],
    [{ assume: ['list_order=oldest_first'] }, 'assume takes an object, not an array of strings'],
    [{ assume: { list_oder: 'x' } }, 'list_oder is not an assumption (did you mean list_order?)'],
    [{ assume: { list_order: 'random' } }, 'list_order takes newest_first or oldest_first'],
    [{ assume: { list_order: undefined } }, 'list_order takes newest_first or oldest_first'],
    [{ logFormat: 'xml' }, 'logFormat takes pretty or json, not "xml"'],
  ]
  for (const [options, message] of cases) t.match(await refusal(options), message)
})

t.test('an option that is undefined is one that is not given', async (t) => {
  const options = { port: undefined, memory: undefined, data: undefined, logLevel: undefined }
  const { url, close } = await startSandbox(options as unknown as SandboxOptions)
  await close()
  t.not(new URL(url).port, '4310', 'the default here is a free port')
})

t.test('assume chooses readings for every client', async (t) => {
  const { admin, close } = await startSandbox({ assume: { list_order: 'oldest_first' } })
  t.teardown(close)
  const { assumptions } = await admin.assumptions.list()
  t.match(
    assumptions.filter(({ source }) => source !== 'default'),
    [{ name: 'list_order', reading: 'oldest_first', source: 'start' }],
  )
  t.equal(assumptions.filter(({ source }) => source !== 'default').length, 1)
})
