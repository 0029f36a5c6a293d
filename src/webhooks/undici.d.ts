// The two parts of undici that the sender uses: the bundle then holds no more of it.
declare module 'undici/lib/dispatcher/client.js' {
  const { Client }: typeof import('undici')
  export = Client
}
declare module 'undici/lib/core/connect.js' {
  import type { LookupFunction, Socket } from 'node:net'
  import type { buildConnector as of } from 'undici'

  function buildConnector(options: {
    lookup: LookupFunction
    timeout: number
  }): (...args: Parameters<of.connector>) => Socket
  export = buildConnector
}
