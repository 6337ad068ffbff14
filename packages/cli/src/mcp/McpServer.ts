import { INSTRUCTIONS, type RunOptions, type Tool, type ToolResult } from "@agentos/tools"
import type { AgentOs } from "@agentos/client"
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js"
import { setImmediate, setTimeout as sleep } from "node:timers/promises"
import type { Readable, Writable } from "node:stream"
import { VERSION } from "../Version.ts"
import { argumentsOf } from "./Arguments.ts"

/*
 * The only module that loads the SDK of the protocol.
 */

/** A host gives up on a call without progress, mostly after a minute. */
const PROGRESS_MILLIS = 5_000

export interface McpParts {
  readonly agent: AgentOs
  readonly tools: ReadonlyArray<Tool>
  readonly options: Omit<RunOptions, "signal">
  readonly input: Readable
  readonly output: Writable
  /** Ends the server. */
  readonly signal: AbortSignal
  /** Called with each result, for the log and for payments that stay open. */
  readonly onResult: (tool: Tool, result: ToolResult) => void
  /** Called with messages that are not valid, and with errors of the streams. */
  readonly onError: (error: Error) => void
}

type Notify = (progress: number) => Promise<void>

/** Reports progress while a call waits. A host that has gone is not told. */
const reportProgress = async (notify: Notify, ended: AbortSignal): Promise<void> => {
  for (let progress = 1; ; progress++) {
    try {
      await sleep(PROGRESS_MILLIS, undefined, { signal: ended })
    } catch {
      return
    }
    await notify(progress)
  }
}

/**
 * Serves the tools over the streams until the input ends or the signal is aborted. Calls that run then are aborted: a
 * payment that was sent stays in the journal, from which it is resumed.
 */
export const serveMcp = async (parts: McpParts): Promise<void> => {
  const { agent, input, onError, onResult, options, output, signal, tools } = parts
  const server = new Server(
    { name: "agentos", title: "AgentOS", version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS }
  )
  server.onerror = onError
  const stopping = new AbortController()
  const running = new Set<Promise<unknown>>()

  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ annotations, description, inputSchema, name, outputSchema }) => ({
      name,
      title: annotations.title,
      description,
      inputSchema,
      outputSchema,
      annotations
    }))
  }))

  server.setRequestHandler(
    CallToolRequestSchema,
    async ({ params }, { _meta, sendNotification, signal: cancelled }) => {
      const tool = tools.find(({ name }) => name === params.name)
      if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name}.`)
      const progressToken = _meta?.progressToken
      const ended = new AbortController()
      if (tool.waits && progressToken !== undefined) {
        const notify: Notify = (progress) =>
          sendNotification({
            method: "notifications/progress",
            params: { progressToken, progress, message: "Waiting" }
          })
        reportProgress(notify, ended.signal).catch(onError)
      }
      const call = tool.run(agent, argumentsOf(params.arguments ?? {}, tool.inputSchema), {
        ...options,
        signal: AbortSignal.any([cancelled, stopping.signal])
      })
      running.add(call)
      try {
        const result = await call
        onResult(tool, result)
        const content = [{ type: "text" as const, text: JSON.stringify(result.data) }]
        return result.isError ? { content, isError: true } : { content, structuredContent: result.data }
      } finally {
        running.delete(call)
        ended.abort()
      }
    }
  )

  const closed = new Promise<void>((resolve) => {
    const stop = (): void => resolve()
    server.onclose = stop
    input.once("end", stop).once("close", stop)
    signal.addEventListener("abort", stop, { once: true })
    if (signal.aborted) stop()
  })
  await server.connect(new StdioServerTransport(input, output))
  await closed
  stopping.abort(new Error("The server stops."))
  await Promise.allSettled(running)
  // Writes the answers that are ready.
  await setImmediate()
  agent.close()
  await server.close()
}
