import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"

/** A span as OTLP has it in JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>
}

interface TraceData {
  readonly resourceSpans: ReadonlyArray<{
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<CollectedSpan> }>
  }>
}

/** Receives traces by OTLP over HTTP, on this machine. */
export const startTraceCollector = async () => {
  const spans: Array<CollectedSpan> = []
  const requests: Array<{ readonly headers: Readonly<Record<string, unknown>>; readonly text: string }> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString()
      requests.push({ headers: request.headers, text })
      const { resourceSpans }: TraceData = JSON.parse(text)
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    spans,
    requests,
    inTrace: (traceId: string): ReadonlyArray<CollectedSpan> => spans.filter((span) => span.traceId === traceId),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}
