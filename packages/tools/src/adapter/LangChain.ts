import type { AgentOs } from "@agentos/client"
import { type StructuredToolInterface, tool } from "@langchain/core/tools"
import { type AdapterOptions, TOOLS } from "../index.ts"

/** Returns the tools in the form of LangChain, for `createAgent({ tools })` and `model.bindTools`. Results are JSON text. */
export const langChainTools = (
  agent: AgentOs,
  { tools = TOOLS, ...options }: AdapterOptions = {}
): ReadonlyArray<StructuredToolInterface> =>
  tools.map(({ description, inputSchema, name, run }) =>
    tool(
      async (input: unknown, config: { readonly signal?: AbortSignal } | undefined) => {
        const signal = config?.signal
        return JSON.stringify((await run(agent, input, signal === undefined ? options : { ...options, signal })).data)
      },
      { name, description, schema: inputSchema }
    )
  )
