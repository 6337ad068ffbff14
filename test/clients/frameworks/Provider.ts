import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { json } from "node:stream/consumers"

type Json = Readonly<Record<string, unknown>>

/** A call of a tool, as a model makes it. */
export interface ModelCall {
  readonly name: string
  readonly input: Json
}

/** In the input of a call, the id of the message that a result names last. */
export const NEWEST = "{messageId}"

/** Returns an input with the id of the message that a conversation names last. Programs contain its text. */
export const withNewest = (input: Json, conversation: string): Json => {
  const [, id = ""] = [...conversation.matchAll(/messageId\\*": ?\\*"([0-9a-f-]{36})/g)].at(-1) ?? []
  return JSON.parse(JSON.stringify(input).replaceAll("{messageId}", id))
}

/** A tool as a request of a framework offers it. */
export interface OfferedTool {
  readonly name: string
  readonly schema: Json
  readonly strict: unknown
  /** Whether the schema is in the form of OpenAPI, as Gemini reads it. */
  readonly isOpenApi: boolean
}

/** The interface of a provider: how its requests show tools and results, and how it answers. */
interface Dialect {
  readonly results: (body: Json) => number
  readonly tools: (body: Json) => ReadonlyArray<OfferedTool>
  readonly answer: (call: ModelCall | undefined, step: number) => Json
}

const list = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? (value as ReadonlyArray<Json>) : [])

const offered = ({ input_schema, name, parameters, parametersJsonSchema, strict }: Json): OfferedTool => ({
  name: name as string,
  schema: (parameters ?? parametersJsonSchema ?? input_schema ?? {}) as Json,
  strict,
  isOpenApi: false
})

const DONE = "Done."
/** Mistral requires nine letters or digits (https://github.com/mistralai/mistral-common, validator.py, 1.12.0). */
const callId = (step: number): string => `call${String(step).padStart(5, "0")}`

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, prompt_tokens: 1, completion_tokens: 1 }

const DIALECTS: Readonly<Record<string, Dialect>> = {
  responses: {
    results: ({ input }) => list(input).filter(({ type }) => type === "function_call_output").length,
    tools: ({ tools }) => list(tools).map(offered),
    answer: (call, step) => ({
      id: `resp_${step}`,
      object: "response",
      created_at: 1,
      status: "completed",
      model: "fake",
      output: [
        call === undefined
          ? {
              type: "message",
              id: `msg_${step}`,
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: DONE, annotations: [] }]
            }
          : {
              type: "function_call",
              id: `fc_${step}`,
              call_id: `call_${step}`,
              name: call.name,
              arguments: JSON.stringify(call.input),
              status: "completed"
            }
      ],
      usage: {
        ...usage,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 }
      },
      parallel_tool_calls: true,
      tool_choice: "auto",
      tools: [],
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {}
    })
  },
  "chat/completions": {
    results: ({ messages }) =>
      list(messages)
        .filter(({ role }) => role === "tool")
        .filter(({ tool_call_id: id }, step) => id === callId(step)).length,
    tools: ({ tools }) => list(tools).map((tool) => offered(tool["function"] as Json)),
    answer: (call, step) => ({
      id: `chat_${step}`,
      object: "chat.completion",
      created: 1,
      model: "fake",
      choices: [
        {
          index: 0,
          finish_reason: call === undefined ? "stop" : "tool_calls",
          message:
            call === undefined
              ? { role: "assistant", content: DONE }
              : {
                  role: "assistant",
                  content: null,
                  tool_calls: [
                    {
                      id: callId(step),
                      type: "function",
                      function: { name: call.name, arguments: JSON.stringify(call.input) }
                    }
                  ]
                }
        }
      ],
      usage
    })
  },
  messages: {
    results: ({ messages }) =>
      list(messages)
        .flatMap(({ content }) => list(content))
        .filter(({ type }) => type === "tool_result").length,
    tools: ({ tools }) => list(tools).map(offered),
    answer: (call, step) => ({
      id: `msg_${step}`,
      type: "message",
      role: "assistant",
      model: "fake",
      content: [
        call === undefined
          ? { type: "text", text: DONE }
          : { type: "tool_use", id: `toolu_${step}`, name: call.name, input: call.input }
      ],
      stop_reason: call === undefined ? "end_turn" : "tool_use",
      stop_sequence: null,
      usage
    })
  },
  generateContent: {
    results: ({ contents }) =>
      list(contents)
        .flatMap(({ parts }) => list(parts))
        .filter((part) => "functionResponse" in part).length,
    tools: ({ tools }) =>
      list(tools).flatMap((tool) =>
        list(tool["functionDeclarations"]).map((each) => ({ ...offered(each), isOpenApi: "parameters" in each }))
      ),
    answer: (call) => ({
      candidates: [
        {
          index: 0,
          finishReason: "STOP",
          content: {
            role: "model",
            parts: [call === undefined ? { text: DONE } : { functionCall: { name: call.name, args: call.input } }]
          }
        }
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    })
  }
}

/** The requests of one conversation. */
export interface Conversation {
  readonly requests: ReadonlyArray<string>
  readonly tools: ReadonlyArray<OfferedTool>
}

/** A provider of models on the loopback interface. Its model makes the given calls, one after the other, then it is done. */
export class Provider {
  readonly #conversations = new Map<string, { readonly requests: Array<string>; tools: ReadonlyArray<OfferedTool> }>()
  readonly #calls: (conversation: string) => ReadonlyArray<ModelCall>
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })

  private constructor(calls: (conversation: string) => ReadonlyArray<ModelCall>) {
    this.#calls = calls
  }

  static async start(calls: (conversation: string) => ReadonlyArray<ModelCall>): Promise<Provider> {
    const provider = new Provider(calls)
    provider.#server.listen(0, "127.0.0.1")
    await once(provider.#server, "listening")
    return provider
  }

  url(conversation: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${conversation}`
  }

  conversation(name: string): Conversation {
    return this.#conversations.get(name) ?? { requests: [], tools: [] }
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").replace(/\?.*$/, "")
    const [, name = ""] = path.split("/")
    const dialect = Object.entries(DIALECTS).find(([end]) => path.endsWith(end))?.[1]
    if (dialect === undefined) throw new Error(`no such interface: ${path}`)
    const body = (await json(request)) as Json
    const conversation = this.#conversations.get(name) ?? { requests: [], tools: [] }
    conversation.requests.push(JSON.stringify(body))
    if (conversation.requests.length === 1) conversation.tools = dialect.tools(body)
    this.#conversations.set(name, conversation)
    const step = dialect.results(body)
    response.writeHead(200, { "Content-Type": "application/json" })
    const call = this.#calls(name)[step]
    const next = call === undefined ? undefined : { ...call, input: withNewest(call.input, JSON.stringify(body)) }
    response.end(JSON.stringify(dialect.answer(next, step)))
  }
}
