// The rows of every server, and an OpenAPI document that contains them as examples.
const CLIENT_ID = 'c0000000-0000-4000-8000-000000000001'
export const LISTED = 10

/** `count` users, the same in each run, in the format of the sandbox except for the name of the id. */
export const usersOf = (count) =>
  Array.from({ length: count }, (_, i) => {
    const at = new Date(1_700_000_000_000 + i * 1_000).toISOString()
    return {
      id: `00000000-0000-4000-8000-${String(i + 1).padStart(12, '0')}`,
      client_id: CLIENT_ID,
      user_type: 'individual',
      email: `stored.${i + 1}@example.com`,
      mobile: `+9180${String(i + 1).padStart(8, '0')}`,
      pid: null,
      tid: null,
      bank_id: null,
      created_at: at,
      updated_at: at,
    }
  })

/** The same users as a fixture file of the sandbox. */
export const fixtureOf = (users) => ({
  users: users.map(({ id, email, mobile, created_at }) => ({
    user_id: id,
    email,
    mobile,
    created_at,
  })),
})

const text = { type: 'string' }
const nothing = { type: 'string', nullable: true }
const USER = {
  type: 'object',
  properties: {
    id: text,
    client_id: text,
    user_type: text,
    email: text,
    mobile: text,
    pid: nothing,
    tid: nothing,
    bank_id: nothing,
    created_at: text,
    updated_at: text,
  },
}
const INPUT = {
  type: 'object',
  required: ['email', 'mobile'],
  properties: { email: text, mobile: text },
}
const json = (schema, example) => ({ 'application/json': { schema, example } })

/** For servers that respond from an OpenAPI document. All of them support version 3.0. */
export const descriptionOf = (users) => ({
  openapi: '3.0.3',
  info: { title: 'Users', version: '1' },
  paths: {
    '/users': {
      get: {
        operationId: 'listUsers',
        responses: {
          200: {
            description: 'A page',
            content: json({ type: 'array', items: USER }, users.slice(0, LISTED)),
          },
        },
      },
      post: {
        operationId: 'createUser',
        requestBody: { required: true, content: { 'application/json': { schema: INPUT } } },
        responses: { 201: { description: 'Made', content: json(USER, users[0]) } },
      },
    },
    '/users/{id}': {
      get: {
        operationId: 'getUser',
        parameters: [{ name: 'id', in: 'path', required: true, schema: text }],
        responses: { 200: { description: 'One user', content: json(USER, users[0]) } },
      },
    },
  },
})
