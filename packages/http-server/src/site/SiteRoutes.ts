import { type ApiError, DOCS_PATH, documentLinks, LLMS_FULL_PATH, LLMS_PATH, ROOT_PATH } from "@agentos/api"
import { Effect, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import Negotiator from "negotiator"
import { routeUnknown } from "../edge/ErrorResponse.ts"
import { pathOf } from "../edge/RequestLimits.ts"
import { documentRoute, type Handler, type RequestFacts, UNKNOWN_PATH } from "../edge/Route.ts"
import { isCurrent } from "../edge/PreparedDocument.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { HTML, JSON_TYPE, MARKDOWN, preferred } from "./Negotiation.ts"
import { type Encoding, SiteFiles } from "./SiteFiles.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** The best first. */
const ENCODINGS: ReadonlyArray<Encoding> = ["br", "gzip", "identity"]

/** How long a reader waits for the first build before it is told to come back. */
const BUILD_WAIT = "500 millis"
const BUILD_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="2"><title>AgentOS</title></head>
<body><p>The documentation is being built. This takes about 15 seconds. The page reloads by itself.</p></body></html>
`

/** The page of the site for unknown paths. */
const UNKNOWN_FILE = "docs/404.html"
/** Sent in its place while the site is not built. */
const unknownPageOf = (publicUrl: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Page not found | AgentOS</title></head>
<body><h1>Page not found</h1><p>Go to the <a href="${publicUrl}${DOCS_PATH}">documentation</a>.</p></body></html>
`

const UNKNOWN_HEADERS = { "cache-control": "no-cache", vary: "Accept" }

/** Returns the type in which the client reads that a path is unknown. */
const unknownTypeOf = (request: Request): string | undefined => {
  const path = pathOf(request.url)
  if (path.startsWith(`${DOCS_PATH}/`)) {
    return path.endsWith(".md")
      ? preferred(request, MARKDOWN, JSON_TYPE, HTML)
      : preferred(request, JSON_TYPE, HTML, MARKDOWN)
  }
  return preferred(request, JSON_TYPE, HTML)
}

/** Returns the best encoding that the client accepts. */
const encodingOf = (request: Request): Encoding => {
  const accepted = new Negotiator({ headers: { ...request.headers } }).encodings([...ENCODINGS])
  return ENCODINGS.find((encoding) => accepted.includes(encoding)) ?? "identity"
}

const buildPending = HttpServerResponse.text(BUILD_PAGE, {
  status: 503,
  contentType: "text/html; charset=utf-8",
  headers: { "retry-after": "2" }
})

/**
 * The documentation: its pages as HTML and Markdown, the indexes for agents, and the start page for browsers. Other clients
 * get `description` at the root. Files are read when they are first requested.
 */
export const routes = (description: Handler<never>) =>
  Effect.map(ServerSettings, ({ publicUrl, site }) => {
    const texts = new SiteFiles(site.texts, publicUrl)
    const pages = new SiteFiles(site.pages, publicUrl)
    const link = documentLinks(publicUrl)

    const send = async (request: Request, files: SiteFiles, name: string): Promise<Response | undefined> => {
      const file = await files.find(name)
      if (file === undefined) return undefined
      const encoding = file.isCompressible ? encodingOf(request) : "identity"
      const headers = {
        ...file.headers,
        link,
        vary: "Accept, Accept-Encoding",
        ...(encoding === "identity" ? {} : { "content-encoding": encoding })
      }
      if (isCurrent(request.headers["if-none-match"], file.headers.etag)) {
        return HttpServerResponse.empty({ status: 304, headers })
      }
      return HttpServerResponse.uint8Array(await file.bytes(encoding), { contentType: file.contentType, headers })
    }

    /** Answers a browser with the 404 page of the site, or with a short one if the site is not built within a moment. */
    const unknownPage = Effect.tryPromise(() => pages.find(UNKNOWN_FILE)).pipe(
      Effect.timeoutOption(BUILD_WAIT),
      Effect.orElseSucceed(() => Option.none()),
      Effect.map(Option.getOrUndefined),
      Effect.flatMap((file) =>
        Effect.map(
          file === undefined
            ? Effect.succeed(Buffer.from(unknownPageOf(publicUrl)))
            : Effect.promise(() => file.bytes("identity")),
          (content) =>
            HttpServerResponse.uint8Array(content, {
              status: 404,
              contentType: "text/html; charset=utf-8",
              headers: { ...file?.headers, ...UNKNOWN_HEADERS, link }
            })
        )
      )
    )

    const unknownText = HttpServerResponse.text(
      `# Page not found\n\nNo page of the documentation has this address. The index of all pages: ${publicUrl}${LLMS_PATH}. All pages in one file: ${publicUrl}${LLMS_FULL_PATH}.\n`,
      { status: 404, contentType: "text/markdown; charset=utf-8", headers: { ...UNKNOWN_HEADERS, link } }
    )

    /** Answers a request for an unknown path: with a page for people, with Markdown for agents, or with an error. */
    const unknown: Handler<never> = (request, record) => {
      const type = unknownTypeOf(request)
      if (type === undefined || type === JSON_TYPE) return Effect.fail(routeUnknown(request.url))
      record.code = "RESOURCE_NOT_FOUND"
      return type === MARKDOWN ? unknownText : unknownPage
    }

    const answer = (
      request: Request,
      record: RequestFacts,
      find: () => Promise<Response | undefined>
    ): Effect.Effect<Response, ApiError> =>
      Effect.flatMap(Effect.promise(find), (response) => {
        const answered = response ?? unknown(request, record)
        return Effect.isEffect(answered) ? answered : Effect.succeed(answered)
      })

    const text =
      (name: string): Handler<never> =>
      (request, record) =>
        answer(request, record, () => send(request, texts, name))

    /** Answers with a page. If the site is still being built, tells a browser so after a moment; others wait. */
    const page = (request: Request, record: RequestFacts, name: string): Effect.Effect<Response, ApiError> => {
      const found = answer(request, record, () => send(request, pages, name))
      if (request.headers["accept"]?.includes(HTML) !== true) return found
      return Effect.promise(() => pages.open()).pipe(
        Effect.timeoutOption(BUILD_WAIT),
        Effect.flatMap((opened) => (Option.isNone(opened) ? Effect.succeed(buildPending) : found))
      )
    }

    /** Answers with a page of the site or one of its files, by its path below /docs. */
    const documentation =
      (path: string): Handler<never> =>
      (request, record) => {
        const name = path === "" ? "docs" : `docs/${path}`
        if (name.endsWith("/")) {
          return HttpServerResponse.empty({
            status: 308,
            headers: { location: `${publicUrl}/${name.replace(/\/+$/, "")}` }
          })
        }
        if (/\.(?:md|json)$/.test(name))
          return answer(request, record, async () => (await send(request, texts, name)) ?? send(request, pages, name))
        if (/\.\w+$/.test(name)) return page(request, record, name)
        return preferred(request, HTML, MARKDOWN) === MARKDOWN
          ? answer(request, record, () => send(request, texts, path === "" ? "docs/index.md" : `${name}.md`))
          : page(request, record, `${name}/index.html`)
      }

    const root: Handler<never> = (request, record) => {
      const type = preferred(request, JSON_TYPE, HTML, MARKDOWN)
      if (type === HTML) return page(request, record, "index.html")
      return type === MARKDOWN ? text("llms.txt")(request, record) : description(request, record)
    }

    return [
      documentRoute(ROOT_PATH, root),
      documentRoute(LLMS_PATH, text("llms.txt")),
      documentRoute(LLMS_FULL_PATH, text("llms-full.txt")),
      documentRoute(DOCS_PATH, documentation("")),
      documentRoute(`${DOCS_PATH}.md`, text("docs/index.md")),
      documentRoute(`${DOCS_PATH}/*`, (request, record) =>
        documentation(record.match.params["*"] ?? "")(request, record)
      ),
      documentRoute(UNKNOWN_PATH, unknown)
    ] as const
  })
