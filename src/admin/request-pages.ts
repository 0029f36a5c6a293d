import { DEFAULT_LIMIT } from '../model/logged-request.ts'

type Page = { requests: readonly unknown[]; next: string | null }
type Asked = { limit?: number | undefined; cursor?: string | undefined }

/** Returns a call of the request log that follows `next` until it has as many calls as `limit` says, or all. */
export const allPages =
  <Query extends Asked, One extends Page>(read: (query?: Query) => Promise<One>) =>
  async (query?: Query): Promise<One> => {
    let page = await read(query)
    const { limit = DEFAULT_LIMIT } = query ?? {}
    while (page.next && page.requests.length < limit) {
      const rest = { limit: limit - page.requests.length, cursor: page.next }
      const { requests, next } = await read({ ...query, ...rest } as Query)
      page = { ...page, requests: [...page.requests, ...requests], next }
    }
    return page
  }
