import { BodyMemoryExhausted } from "@agentos/api"
import { ByteBudget, type MessageContent, TransitMemory } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { BodyMemory } from "../../src/operation/BodyMemory.ts"
import { contentDisposition, downloadResponse, safeContentType } from "../../src/operation/DownloadResponse.ts"

const MIB = 1024 * 1024

const content: MessageContent = {
  filename: "a.txt",
  contentType: "text/plain",
  sizeBytes: 2,
  version: "v",
  bytes: Stream.make(new Uint8Array(2))
}

describe("a download", () => {
  it("has a filename without paths, controls, invisible characters and leading dots", () => {
    for (const [given, name] of [
      [null, "attachment"],
      ["", "attachment"],
      ["...", "attachment"],
      ["bill.pdf", "bill.pdf"],
      ["/etc/passwd", "_etc_passwd"],
      ["C:\\Windows\\a.exe", "C__Windows_a.exe"],
      [".ssh", "ssh"],
      ["a\r\nSet-Cookie: b=c", "a__Set-Cookie_ b=c"],
      ['a";filename=b', "a_;filename=b"],
      ["a%0d.txt", "a_0d.txt"],
      ["x".repeat(1_000), "x".repeat(150)]
    ] as const) {
      assert.strictEqual(contentDisposition(given), `attachment; filename="${name}"`, `${given}`)
    }
  })

  it("has a filename in UTF-8 beside one in ASCII", () => {
    assert.strictEqual(
      contentDisposition("€'(1).txt"),
      `attachment; filename="_'(1).txt"; filename*=UTF-8''%E2%82%AC%27%281%29.txt`
    )
    assert.strictEqual(contentDisposition("gnp\u202e.exe"), 'attachment; filename="gnp_.exe"')
    assert.strictEqual(contentDisposition("👋"), `attachment; filename="__"; filename*=UTF-8''%F0%9F%91%8B`)
  })

  it("has a type that no browser runs", () => {
    for (const type of [
      "text/html",
      "image/svg+xml",
      "text/xml",
      "application/xhtml+xml",
      "text/javascript",
      "x",
      ""
    ]) {
      assert.strictEqual(safeContentType(type), "application/octet-stream", type)
    }
    for (const type of ["image/png", "application/pdf", "text/plain", "message/rfc822"]) {
      assert.strictEqual(safeContentType(type), type)
    }
    assert.strictEqual(safeContentType("Image/PNG"), "image/png")
  })

  it("keeps the parameters of a type, and serves a type with anything else in it as a general one", () => {
    for (const type of ["text/plain; charset=utf-8", "text/calendar;method=REQUEST", 'text/csv; charset="a \\" b"']) {
      assert.strictEqual(safeContentType(type), type)
    }
    for (const type of ["text/html; charset=utf-8", "text/plain, text/html", "text/plain; x", "text/plain; a=\u00fc"]) {
      assert.strictEqual(safeContentType(type), "application/octet-stream", type)
    }
  })

  it.effect("reserves memory until its request ends, and waits ten seconds for the share of its client", () => {
    const memory = new ByteBudget(64 * MIB)
    const request = HttpServerRequest.fromWeb(new Request("http://agents.test/", { method: "GET" }))
    return Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.gen(function* () {
          for (let count = 0; count < 4; count++) yield* downloadResponse(content)
          const fifth = yield* Effect.forkChild(Effect.flip(downloadResponse(content)))
          yield* TestClock.adjust("10 seconds")
          assert.instanceOf(yield* Fiber.join(fifth), BodyMemoryExhausted)
          assert.strictEqual(memory.usedBytes, 32 * MIB)
        })
      )
      assert.strictEqual(memory.usedBytes, 0)
    }).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, request),
      Effect.provide(BodyMemory.layer.pipe(Layer.provide(Layer.succeed(TransitMemory, memory))))
    )
  })

  it.effect("is closed, and frees its memory, once its client has taken less than 768 KiB in a minute", () => {
    const received = HttpServerRequest.fromWeb(new Request("http://agents.test/", { method: "GET" }))
    const pieces = Stream.fromIterable(Array.from({ length: 8 }, () => new Uint8Array(256 * 1024)))
    const readSlowly = (request: HttpServerRequest.HttpServerRequest, socket: Socket) => {
      const memory = new ByteBudget(64 * MIB)
      return Effect.scoped(
        Effect.gen(function* () {
          const { body } = yield* downloadResponse({
            ...content,
            sizeBytes: 2 * MIB,
            bytes: pieces.pipe(Stream.rechunk(1))
          })
          const pull = yield* Stream.toPull(body._tag === "Stream" ? body.stream : Stream.empty)
          for (const isOpen of [true, true, false]) {
            if (isOpen) for (let count = 0; count < 3; count++) yield* pull
            yield* TestClock.adjust("1 minute")
            assert.strictEqual(socket.destroyed, !isOpen && request !== received)
            assert.strictEqual(memory.usedBytes, isOpen ? 8 * MIB : 0)
          }
          assert.isTrue(Exit.isFailure(yield* Effect.exit(pull)))
        })
      ).pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, request),
        Effect.provide(BodyMemory.layer.pipe(Layer.provide(Layer.succeed(TransitMemory, memory))))
      )
    }
    const socket = new Socket()
    const ofNode = Object.create(received, {
      source: { value: new IncomingMessage(socket) },
      method: { value: "GET" }
    })
    return Effect.andThen(readSlowly(ofNode, socket), readSlowly(received, new Socket()))
  })
})
