import type { AgentOs } from "@agentos/client"
import { type ToolCall, ToolMessage } from "@langchain/core/messages/tool"
import { type StructuredToolInterface, tool } from "@langchain/core/tools"
import { type AdapterOptions, type Tool, TOOLS, type ToolResult } from "../index.ts"

type Invoke = StructuredToolInterface["invoke"]

const textOf = ({ data }: ToolResult): string => JSON.stringify(data)

const isToolCall = (input: unknown): input is ToolCall =>
  typeof input === "object" && input !== null && (input as { readonly type?: unknown }).type === "tool_call"

/** LangChain checks inputs before the tool does, and hides its errors from the model. So it receives checked ones. */
const checkedFirst =
  ({ name, parse }: Tool, invoke: Invoke) =>
  async (input: unknown, config?: Parameters<Invoke>[1]): Promise<unknown> => {
    const read = parse(isToolCall(input) ? input.args : input)
    if ("input" in read) return invoke(isToolCall(input) ? { ...input, args: read.input } : read.input, config)
    const content = textOf(read.invalid)
    if (!isToolCall(input)) return content
    return new ToolMessage({ content, name, status: "error", tool_call_id: input.id ?? "" })
  }

/** Returns the tools in the form of LangChain, for `createAgent({ tools })` and `model.bindTools`. Results are JSON text. */
export const langChainTools = (
  agent: AgentOs,
  { tools = TOOLS, ...options }: AdapterOptions = {}
): ReadonlyArray<StructuredToolInterface> =>
  tools.map((each) => {
    const { description, inputSchema, name, run } = each
    const made: StructuredToolInterface = tool(
      async (input: unknown, config: { readonly signal?: AbortSignal } | undefined) => {
        const signal = config?.signal
        return textOf(await run(agent, input, signal === undefined ? options : { ...options, signal }))
      },
      { name, description, schema: inputSchema }
    )
    return Object.assign(made, { invoke: checkedFirst(each, made.invoke.bind(made)) as Invoke })
  })
