import { ClientAddress, JsonScanner, type JsonBudget, RequestBinding, scanJson } from "@agentos/core"
import { IpNetwork } from "effect/net"
import { HttpServerRequest } from "effect/http"
import type { IncomingMessage } from "node:http"
import { PassThrough } from "node:stream"
import { describe, it } from "vitest"
import { HEADERS_LIMIT_BYTES, TARGET_LIMIT_BYTES } from "@agentos/http-server/limits"
import {
  documentRoute,
  forwardedAddress,
  FrameGate,
  headerFlaw,
  isCurrent,
  makeRouter,
  matchPath,
  parseBody,
  repeatedHeader
} from "@agentos/http-server/testing"
import { expectLinear } from "../support/Growth.ts"
import { Effect } from "effect"

const MIB = 1024 * 1024
const BODY_BYTES = 16 * MIB

/** The text, repeated up to a length. */
const repeated =
  (text: string, before = "") =>
  (sizeBytes: number): string =>
    before + text.repeat(Math.max(1, Math.floor((sizeBytes - before.length) / text.length)))

const budget: JsonBudget = {
  depth: 8,
  elements: 256,
  keys: 128,
  keyBytes: 128,
  stringBytes: BODY_BYTES,
  plainBytes: BODY_BYTES
}
const unbounded: JsonBudget = { ...budget, depth: BODY_BYTES, elements: BODY_BYTES, keys: BODY_BYTES }

const BODIES: Readonly<Record<string, (sizeBytes: number) => string>> = {
  "white space": repeated(" "),
  digits: repeated("9", '{"a":'),
  commas: repeated(","),
  "empty strings": repeated('""'),
  "one string": repeated("a", '{"a":"'),
  backslashes: repeated("\\", '"'),
  "escaped quotes": repeated('\\"', '"'),
  "far escaped quotes": repeated(`${"a".repeat(100)}\\"`, '"'),
  "Unicode escapes": repeated("\\u0041", '{"a":"'),
  "letters of two bytes": repeated("é", '"'),
  "elements of an array": repeated("0,", "["),
  "open arrays": repeated("["),
  "empty objects": repeated("{},", "["),
  keys: (sizeBytes) => `{${Array.from({ length: sizeBytes / 12 }, (_, at) => `"k${at}":0`).join(",")}}`
}

/** Sends bytes in reads of a length. */
const inParts = (bytes: Buffer, partBytes: number, read: (part: Buffer) => unknown): void => {
  for (let start = 0; start < bytes.length; start += partBytes) read(bytes.subarray(start, start + partBytes))
}

describe("the time to scan a body", () => {
  it.each(Object.entries(BODIES))("grows with its length: %s", (_, make) => {
    const bytes = (sizeBytes: number) => Buffer.from(make(sizeBytes))
    expectLinear({ make: bytes, read: (given) => scanJson(given, budget), sizeMaxBytes: BODY_BYTES })
    expectLinear({
      make: bytes,
      read: (given) => {
        const scanner = new JsonScanner(unbounded)
        inParts(given, 1_000, (part) => scanner.scan(part))
      },
      sizeMaxBytes: MIB
    })
  })

  it.each(Object.entries(BODIES))("and to decode it grows with its length: %s", (_, make) => {
    expectLinear({
      make: (sizeBytes: number) => Buffer.from(make(sizeBytes)),
      read: (bytes) =>
        Effect.runSyncExit(
          parseBody({ bytes, free: () => undefined, isScanned: false }, { ...budget, plainBytes: 65_536 })
        ),
      sizeMaxBytes: MIB - 1
    })
  })
})

const requestWith = (target: string, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerRequest.fromWeb(new Request("http://agentos.test/", { headers })).modify({ url: target })

const route = makeRouter([
  documentRoute("/api/v1/catalog/{serviceId}", () => Effect.never),
  documentRoute("/api/v1/email/mailboxes", () => Effect.never)
])

/** Functions over a request target. */
const TARGETS: Readonly<Record<string, (target: string) => unknown>> = {
  router: (target) => route("GET", target),
  limits: (target) => headerFlaw(requestWith(target), null),
  binding: RequestBinding.queryOf,
  webhooks: (target) => matchPath("/webhooks/a/{token}", target)
}

describe("the time to read a request target grows with its length", () => {
  const shapes = ["/", "a/", "%41", "%", "?a&", "&", "=", "..", "/../", "//", "\u00e9"]
  it.each(Object.entries(TARGETS))("%s", (_, read) => {
    for (const shape of shapes) {
      for (const before of ["/", "/webhooks/a/", "/api/v1/catalog/", "/api/v1?"]) {
        expectLinear({ make: repeated(shape, before), read, sizeMaxBytes: TARGET_LIMIT_BYTES })
      }
    }
  })
})

const proxies = [IpNetwork.fromStringUnsafe("127.0.0.0/8")]
const from = (forwarded: string) =>
  ({ headers: { "x-forwarded-for": forwarded }, socket: { remoteAddress: "127.0.0.1" } }) as unknown as IncomingMessage

/** Functions over the value of a header. */
const HEADERS: Readonly<Record<string, (value: string) => unknown>> = {
  "If-None-Match": (value) => isCurrent(value, '"tag"'),
  "X-Forwarded-For": (value) => forwardedAddress(from(value), proxies),
  "the client of an address": ClientAddress.clientOf,
  "the site of an address": ClientAddress.siteOf,
  "the network of an address": ClientAddress.networkOf,
  "Content-Type": (value) => headerFlaw(requestWith("/", { "content-type": value, "content-length": "1" }), null),
  "names of headers": (value) => repeatedHeader(value.split(","))
}

describe("the time to read a header grows with its length", () => {
  const shapes = [
    ",",
    ";",
    " ",
    "a",
    "1",
    ".",
    ":",
    "::",
    "1.",
    "f:",
    "W/",
    "*,",
    '"',
    '"a", ',
    "127.0.0.1,",
    "::1%",
    "/",
    "=;"
  ]
  it.each(Object.entries(HEADERS))("%s", (_, read) => {
    for (const shape of shapes) {
      for (const end of ["", "x", "%"]) {
        const make = (sizeBytes: number) => repeated(shape)(sizeBytes).trim() + end
        expectLinear({ make, read, sizeMaxBytes: HEADERS_LIMIT_BYTES })
      }
    }
  })
})

describe("the time to count frames", () => {
  const frames: Readonly<Record<string, Buffer>> = {
    "empty messages": Buffer.from([0x81, 0x80, 0, 0, 0, 0]),
    pings: Buffer.from([0x89, 0x80, 0, 0, 0, 0]),
    "messages of 64 KiB": Buffer.concat([Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0]), Buffer.alloc(65_540)])
  }
  it.each(Object.entries(frames))("grows with their length, also in small reads: %s", (_, frame) => {
    for (const partBytes of [1, 1_000, MIB]) {
      expectLinear({
        make: (sizeBytes) => Buffer.concat(Array.from({ length: Math.max(1, sizeBytes / frame.length) }, () => frame)),
        read: (bytes) => {
          const stream = new PassThrough()
          stream.on("data", () => undefined)
          let count = 0
          const gate = new FrameGate(stream, {
            take: () => (count++ % 32 === 31 ? "held" : "admitted"),
            refused: () => undefined
          })
          inParts(bytes, partBytes, (part) => {
            stream.emit("data", part)
            for (let before = -1; before !== count;) {
              before = count
              gate.release()
            }
          })
        },
        sizeMaxBytes: MIB
      })
    }
  })
})
