import type { TwilioForm } from "./TwilioForm.ts"
import { badParameter } from "./TwilioError.ts"

/** The parameters by which lists are paged. */
export const pageParameters = ["PageSize", "Page", "PageToken"] as const

const pageSizeDefault = 50
const pageSizeMax = 1_000

/**
 * One page of a list in Twilio's shape, under `key`. A page token names the last resource of the page before, so that
 * what comes or goes meanwhile neither repeats nor hides one; `Page` is only carried along, as Twilio says.
 */
export const pageOf = <Resource extends { readonly sid: string }, Shown>(options: {
  readonly key: string
  readonly path: string
  readonly query: URLSearchParams
  readonly form: TwilioForm
  /** In order. */
  readonly resources: ReadonlyArray<Resource>
  readonly show: (resource: Resource) => Shown
}): Readonly<Record<string, unknown>> => {
  const { form, key, path, query, resources, show } = options
  const size = form.whole("PageSize", 1, pageSizeMax) ?? pageSizeDefault
  const page = form.whole("Page", 0, 999_999_999) ?? 0
  const token = form.text("PageToken")
  const before = token === undefined ? -1 : resources.findIndex(({ sid }) => token === `PA${sid}`)
  if (token !== undefined && before < 0) throw badParameter("Sandbox: PageToken is none of this list's")
  const start = token === undefined ? page * size : before + 1
  const shown = resources.slice(start, start + size)

  const address = (number: number, after?: string): string => {
    const params = new URLSearchParams(query)
    params.delete("PageToken")
    params.set("PageSize", String(size))
    params.set("Page", String(number))
    if (after !== undefined) params.set("PageToken", `PA${after}`)
    return `${path}?${params.toString()}`
  }
  const last = shown.at(-1)
  const hasMore = last !== undefined && start + size < resources.length
  return {
    [key]: shown.map(show),
    page,
    page_size: size,
    start: page * size,
    end: page * size + Math.max(0, shown.length - 1),
    uri: address(page, token?.slice(2)),
    first_page_uri: address(0),
    next_page_uri: hasMore ? address(page + 1, last.sid) : null,
    previous_page_uri: page > 0 ? address(page - 1, resources[start - size - 1]?.sid) : null
  }
}
