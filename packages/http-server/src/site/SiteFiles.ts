import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { extname, join, relative, sep } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { entityTag } from "../edge/PreparedDocument.ts"

/** The origin of the server in the files of the site. */
const PLACEHOLDER = "https://agentos.example"

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".xml": "application/xml"
}

/** A file with one of these endings is text, and names the server's addresses. */
const isText = (path: string): boolean => extname(path) in TYPES

/** Clients may cache a file for five minutes, then revalidate it. */
const REVALIDATED = "public, max-age=300"
/** The name of such a file contains the hash of its content. */
const IMMUTABLE = "public, max-age=31536000, immutable"

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)
/** Compresses a page in a millisecond or two, to a fifth. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

export type Encoding = "br" | "gzip" | "identity"

/** A file of the site as it is sent. */
export interface SiteFile {
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string }
  /** Whether the file is text. Other files are sent as they are: those of the search are compressed already. */
  readonly isCompressible: boolean
  /** Returns the bytes in an encoding, which is `identity` for a file that is not compressible. */
  readonly bytes: (encoding: Encoding) => Promise<Uint8Array>
}

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([^]*?)<\/script>/g

/**
 * Returns the policy of a page: it loads from this server alone, and runs the scripts in it by their hashes. Styles may be
 * attributes, by which code is colored. The search is WebAssembly in a worker.
 */
const policyOf = (html: string): string => {
  const hashes = new Set(
    [...html.matchAll(INLINE_SCRIPT)].map(
      ([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`
    )
  )
  return [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval' ${[...hashes].join(" ")}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

/** The policy of a script is that of the worker that it runs in: the search loads its index and runs as WebAssembly. */
const WORKER_POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"

/** Replaces the placeholder, and puts the path of the public URL before addresses without an origin. */
const localized = (text: string, publicUrl: string): string => {
  const prefix = new URL(publicUrl).pathname.replace(/\/$/, "")
  const named = text.replaceAll(PLACEHOLDER, publicUrl)
  return prefix === "" ? named : named.replaceAll(/(["'(])(\/docs(?=[/"'#?)])|\/favicon\.svg)/g, `$1${prefix}$2`)
}

const load = async (path: string, name: string, publicUrl: string): Promise<SiteFile> => {
  const stored = await readFile(path)
  const text = isText(name) ? localized(stored.toString(), publicUrl) : undefined
  const identity = text === undefined ? stored : Buffer.from(text)
  const encoded = new Map<Encoding, Promise<Uint8Array>>()
  const encode = async (encoding: Encoding): Promise<Uint8Array> => {
    if (encoding === "identity") return identity
    return encoding === "br" ? compressBrotli(identity, BROTLI) : compressGzip(identity)
  }
  return {
    contentType: TYPES[extname(name)] ?? "application/octet-stream",
    headers: {
      etag: `W/${entityTag(identity)}`,
      "cache-control": name.startsWith("docs/_astro/") ? IMMUTABLE : REVALIDATED,
      ...(name.endsWith(".html") ? { "content-security-policy": policyOf(text ?? "") } : {}),
      ...(name.endsWith(".js") ? { "content-security-policy": WORKER_POLICY } : {})
    },
    isCompressible: text !== undefined,
    bytes: (encoding) => {
      const known = encoded.get(encoding) ?? encode(encoding)
      encoded.set(encoding, known)
      return known
    }
  }
}

/** Returns the paths of the files in a folder by their names with slashes. No other file can be read. */
const filesIn = async (folder: string): Promise<ReadonlyMap<string, string>> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(folder, path).replaceAll(sep, "/"), path])
  )
}

/** Reads the files of a folder of the site, each once. A file whose read failed is read again. */
export class SiteFiles {
  readonly #publicUrl: string
  readonly #openFolder: () => Promise<string>
  #names: Promise<ReadonlyMap<string, string>> | undefined
  readonly #files = new Map<string, Promise<SiteFile>>()

  constructor(openFolder: () => Promise<string>, publicUrl: string) {
    this.#openFolder = openFolder
    this.#publicUrl = publicUrl
  }

  /** Returns the names of all files. Rejects if the folder could not be built, and tries again when it is called again. */
  open(): Promise<ReadonlyMap<string, string>> {
    this.#names ??= this.#openFolder().then(filesIn)
    const opened = this.#names
    opened.catch(() => {
      if (this.#names === opened) this.#names = undefined
    })
    return opened
  }

  async find(name: string): Promise<SiteFile | undefined> {
    const path = (await this.open()).get(name)
    if (path === undefined) return undefined
    const known = this.#files.get(name)
    if (known !== undefined) return known
    const loading = load(path, name, this.#publicUrl)
    this.#files.set(name, loading)
    loading.catch(() => this.#files.delete(name))
    return loading
  }
}
