import { DownloadsUnavailable } from "@agentos/api"
import { Cause, Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { routeUnknown } from "../edge/ErrorResponse.ts"
import { entityTag, isCurrent } from "../edge/PreparedDocument.ts"
import { documentRoute, type Handler } from "../edge/Route.ts"
import { ServerSettings } from "../ServerSettings.ts"
import { HTML, JSON_TYPE, preferred } from "./Negotiation.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

export const DOWNLOADS_PATH = "/downloads"

const CACHE_CONTROL = "public, max-age=300"
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
/** A package manager gives up after some minutes, and retries a 503. */
const BUILD_WAIT = "60 seconds"

/** A packed package in `index.json`. */
interface PackedPackage {
  readonly name: string
  readonly version: string
  readonly file: string
  readonly bytes: number
  readonly sha256: string
  readonly integrity: string
}

/** Bytes with their headers. */
interface Download {
  readonly contentType: string
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string }
}

/** Reads the index and every package, each once. */
const load = async (folder: string) => {
  const index = JSON.parse(await readFile(join(folder, "index.json"), "utf8")) as {
    readonly packages: ReadonlyArray<PackedPackage>
  }
  const files = new Map<string, Download>()
  for (const { file, version } of index.packages) {
    const bytes = await readFile(join(folder, file))
    const headers = { etag: entityTag(bytes), "cache-control": CACHE_CONTROL }
    const download = { contentType: "application/gzip", bytes, headers }
    files.set(file, download)
    // The name of the newest version, which is the only one that a server has.
    files.set(file.replace(`-${version}.`, "."), download)
  }
  return { packages: index.packages, files }
}

const documentOf = (text: string, contentType: string, more: Readonly<Record<string, string>> = {}): Download => {
  const bytes = Buffer.from(text)
  const headers = { etag: entityTag(bytes), "cache-control": CACHE_CONTROL, vary: "Accept", ...more }
  return { contentType, bytes, headers }
}

const pageOf = (publicUrl: string, packages: ReadonlyArray<PackedPackage>): string => {
  const urlOf = ({ file }: PackedPackage): string => `${publicUrl}${DOWNLOADS_PATH}/${file}`
  const sections = packages.map(
    (each) => `<h2>${each.name}</h2>
<p><a href="${urlOf(each)}">${each.file}</a>, ${Math.ceil(each.bytes / 1024)} KiB</p>
<dl><dt>SHA-256</dt><dd><code>${each.sha256}</code></dd><dt>Integrity</dt><dd><code>${each.integrity}</code></dd></dl>`
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Packages | AgentOS</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere;background:#fff;color:#17181c}
dd{margin:0}</style></head>
<body><main><h1>Packages</h1><p>The packages of this server's own version. <a href="${publicUrl}/docs/install">Install the packages</a> has the
commands.</p>
${sections.join("\n")}</main></body></html>
`
}

/** The packed client, tools and command line, and their index: as JSON, or as a page for browsers. */
export const routes = Effect.map(ServerSettings, ({ publicUrl, site }) => {
  const open = async () => {
    const { files, packages } = await load(await site.downloads())
    const listed = packages.map((each) => ({ ...each, url: `${publicUrl}${DOWNLOADS_PATH}/${each.file}` }))
    return {
      files,
      json: documentOf(`${JSON.stringify({ packages: listed }, undefined, 2)}\n`, JSON_TYPE),
      page: documentOf(pageOf(publicUrl, packages), "text/html; charset=utf-8", {
        "content-security-policy": PAGE_POLICY
      })
    }
  }
  type Opened = Awaited<ReturnType<typeof open>>
  let opened: Promise<Opened> | undefined
  /** Concurrent readers share one attempt. A failed one is repeated. */
  const openOnce = (): Promise<Opened> => {
    if (opened !== undefined) return opened
    const attempt = open()
    opened = attempt
    attempt.catch(() => (opened = undefined))
    return attempt
  }

  const downloads = Effect.promise(openOnce).pipe(
    Effect.catchDefect((cause) =>
      Effect.andThen(
        Effect.logError("packing the packages failed", Cause.die(cause)),
        Effect.fail(new DownloadsUnavailable({ reason: "failed" }))
      )
    ),
    Effect.timeoutOrElse({
      duration: BUILD_WAIT,
      orElse: () => Effect.fail(new DownloadsUnavailable({ reason: "building" }))
    })
  )

  const send = (request: Request, { bytes, contentType, headers }: Download): Response =>
    isCurrent(request.headers["if-none-match"], headers.etag)
      ? HttpServerResponse.empty({ status: 304, headers })
      : HttpServerResponse.uint8Array(bytes, { contentType, headers })

  const index: Handler<never> = (request) =>
    Effect.map(downloads, ({ json, page }) => send(request, preferred(request, JSON_TYPE, HTML) === HTML ? page : json))

  const file: Handler<never> = (request, record) =>
    Effect.flatMap(downloads, ({ files }) => {
      const found = files.get(record.match.params["file"] ?? "")
      return found === undefined ? Effect.fail(routeUnknown(request.url)) : Effect.succeed(send(request, found))
    })

  return [documentRoute(DOWNLOADS_PATH, index), documentRoute(`${DOWNLOADS_PATH}/{file}`, file)] as const
})
