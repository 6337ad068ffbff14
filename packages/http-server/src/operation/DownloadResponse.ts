import type { MessageContent } from "@agentos/core"
import { Effect, Exit, Scope, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage } from "node:http"
import { isCurrent } from "../edge/PreparedDocument.ts"
import { BodyMemory } from "./BodyMemory.ts"

/**
 * The memory that one download reserves. It holds a few pieces of 256 KiB, but leaves garbage that is collected late: eight
 * downloads of 25 MiB at once raised the peak of a process by 70 MB.
 */
const DOWNLOAD_BYTES = 8 * 1024 * 1024

/**
 * Within each window a client must take this many bytes: 13 KB/s, as fast as a body must arrive. The window is longer than
 * that of a body, because the buffers of a connection hide progress in steps of up to a megabyte.
 */
const WINDOW = "1 minute"
const WINDOW_BYTES = 768 * 1024

/**
 * The types of attachments that keep their own Content-Type: those that no browser runs as a program, and that name no
 * other resource to load. Every other type is served as `application/octet-stream`.
 */
const HARMLESS_TYPES: ReadonlySet<string> = new Set([
  "application/gzip",
  "application/json",
  "application/msword",
  "application/pdf",
  "application/vnd.ms-excel",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/zip",
  "audio/mpeg",
  "audio/ogg",
  "audio/wav",
  "image/gif",
  "image/jpeg",
  "image/png",
  "image/webp",
  "message/rfc822",
  "text/calendar",
  "text/csv",
  "text/plain",
  "video/mp4",
  "video/webm"
])

const OTHER_TYPE = "application/octet-stream"

/** A media type and its parameters (RFC 9110, section 8.3.1). */
const MEDIA_TYPE = /^([^;\s]+)((?:; ?[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[^"\\]|\\[\x20-\x7e])*"))*)$/
const PRINTABLE = /^[\x20-\x7e]*$/

/** Returns a Content-Type under which the bytes are harmless: that of the attachment with its parameters, or a general one. */
export const safeContentType = (contentType: string): string => {
  const [, type = "", parameters = ""] = (PRINTABLE.test(contentType) && MEDIA_TYPE.exec(contentType)) || []
  const plain = type.toLowerCase()
  return HARMLESS_TYPES.has(plain) ? plain + parameters : OTHER_TYPE
}

const FILENAME_LIMIT = 150
/** Controls, invisible characters that can reverse or hide text, and characters with a meaning in paths. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|%]/gu

/** Returns a name without path, control and invisible characters, that does not begin with a dot. */
const safeFilename = (name: string): string =>
  [...name.replace(UNSAFE, "_").replace(/^[.\s]+|[.\s]+$/g, "")].slice(0, FILENAME_LIMIT).join("") || "attachment"

/** Percent-encodes all but the characters that RFC 8187, section 3.2.1, allows. */
const encodeExtended = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** Returns the Content-Disposition of a download (RFC 6266): the name in ASCII and, if it is not ASCII, in UTF-8. */
export const contentDisposition = (filename: string | null): string => {
  const name = safeFilename(filename ?? "")
  const ascii = name.replace(/[^ -~]/g, "_")
  return `attachment; filename="${ascii}"${ascii === name ? "" : `; filename*=UTF-8''${encodeExtended(name)}`}`
}

/** Runs `close` once a window has taken too little: a client that does not read must not keep memory reserved. */
const closeIfSlow = (takenBytes: () => number, close: Effect.Effect<void>) => {
  const windowFrom = (before: number): Effect.Effect<void> =>
    Effect.andThen(
      Effect.sleep(WINDOW),
      Effect.suspend(() => {
        const taken = takenBytes()
        return taken - before >= WINDOW_BYTES ? windowFrom(taken) : close
      })
    )
  return Effect.forkScoped(windowFrom(0))
}

/**
 * Returns bytes that a stranger chose. A browser saves them and never shows them on this origin: they are an
 * attachment, of a type that it must not guess, in a sandbox without scripts.
 */
export const downloadResponse = (content: MessageContent) => {
  const headers = {
    etag: `"${content.version}"`,
    "content-disposition": contentDisposition(content.filename),
    "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff"
  }
  return Effect.gen(function* () {
    const { headers: sent, method, remoteAddress, source } = yield* HttpServerRequest.HttpServerRequest
    if (isCurrent(sent["if-none-match"], headers.etag)) return HttpServerResponse.empty({ status: 304, headers })
    const contentType = safeContentType(content.contentType)
    const options = { headers, contentType, contentLength: content.sizeBytes }
    if (method === "HEAD") return HttpServerResponse.stream(content.bytes, options)
    const memory = yield* BodyMemory
    const reserved = yield* Scope.fork(yield* Effect.scope)
    const lease = yield* Scope.provide(memory.lease(remoteAddress, DOWNLOAD_BYTES), reserved)
    yield* lease.reserve(DOWNLOAD_BYTES)
    let takenBytes = 0
    let isClosed = false
    const close = Effect.suspend(() => {
      isClosed = true
      // A web request has no connection: its stream fails when it is read again.
      if (source instanceof IncomingMessage) source.socket.destroy()
      return Scope.close(reserved, Exit.void)
    })
    yield* closeIfSlow(() => takenBytes, close)
    const counted = Stream.mapEffect(content.bytes, (piece) => {
      if (isClosed) return Effect.die(new Error("the download was read too slowly"))
      takenBytes += piece.length
      return Effect.succeed(piece)
    })
    return HttpServerResponse.stream(counted, options)
  })
}
