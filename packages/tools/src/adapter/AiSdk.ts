import type { AgentOs } from "@agentos/client"
import { jsonSchema, tool, type ToolSet } from "ai"
import { type AdapterOptions, TOOLS } from "../index.ts"

/**
 * Returns the tools in the form of the AI SDK, by name, for `new ToolLoopAgent({ tools })` and `generateText({ tools })`.
 * Results are JSON. The strict mode of providers is off: it makes models invent values for optional inputs.
 */
export const aiSdkTools = (agent: AgentOs, { tools = TOOLS, ...options }: AdapterOptions = {}): ToolSet =>
  Object.fromEntries(
    tools.map(({ annotations, description, inputSchema, name, run }) => [
      name,
      tool({
        title: annotations.title,
        description,
        strict: false,
        inputSchema: jsonSchema<unknown>(inputSchema as Parameters<typeof jsonSchema>[0]),
        execute: async (input: unknown, { abortSignal }: { readonly abortSignal?: AbortSignal | undefined }) =>
          (await run(agent, input, abortSignal === undefined ? options : { ...options, signal: abortSignal })).data
      })
    ])
  )
