/** Parses the URL of a sandbox and removes `/v1` or `/__admin` from its end. Returns `undefined` if it is not an HTTP URL. */
export function parseSandboxUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  url.pathname = url.pathname.replace(/(?:\/(?:v1|__admin))?\/*$/, '')
  url.search = ''
  url.hash = ''
  return url
}

const CLIENT_AT_END = /\/@([^/]+)$/

/** The client that a URL names, as it stands there. */
export const clientInUrl = ({ pathname }: URL): string | undefined =>
  CLIENT_AT_END.exec(pathname)?.[1]

/** The URL with the base path of a client. */
export function urlOfClient(url: URL, name: string): URL {
  const result = new URL(url)
  result.pathname = `${url.pathname.replace(CLIENT_AT_END, '').replace(/\/$/, '')}/@${name}`
  return result
}
