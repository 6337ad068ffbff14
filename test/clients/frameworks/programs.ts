/** Programs of users: each gives the tools to a model through one framework, and prints the model's last text. */

const AI_SDK = (model: string) => `
  import { ToolLoopAgent } from "ai"
${model}
const { text } = await new ToolLoopAgent({ model, instructions: INSTRUCTIONS, tools: aiSdkTools(agent) }).generate({ prompt })
console.log(text)`

const OPENAI_MODEL = `import { createOpenAI } from "@ai-sdk/openai"
const model = createOpenAI({ baseURL: url + "/v1", apiKey: "k" })("gpt-5.1")`
const GOOGLE_MODEL = `import { createGoogleGenerativeAI } from "@ai-sdk/google"
const model = createGoogleGenerativeAI({ baseURL: url + "/v1beta", apiKey: "k" })("gemini-3-pro")`
const MISTRAL_MODEL = `import { createMistral } from "@ai-sdk/mistral"
const model = createMistral({ baseURL: url + "/v1", apiKey: "k" })("mistral-large-latest")`
const ANTHROPIC_MODEL = `import { createAnthropic } from "@ai-sdk/anthropic"
const model = createAnthropic({ baseURL: url + "/v1", apiKey: "k" })("claude-opus-4-5")`

const langChain = (options: string) => `
  import { HumanMessage, SystemMessage } from "@langchain/core/messages"
  import { ChatOpenAI } from "@langchain/openai"
  import { langChainTools } from "./agentos/langchain.js"
const tools = [...langChainTools(agent)]
const model = new ChatOpenAI({ model: "gpt-5.1", apiKey: "k", configuration: { baseURL: url + "/v1" }, ${options} }).bindTools(tools)
const messages = [new SystemMessage(INSTRUCTIONS), new HumanMessage(prompt)]
for (;;) {
  const answer = await model.invoke(messages)
  messages.push(answer)
  if (answer.tool_calls.length === 0) { console.log(answer.text); break }
  for (const call of answer.tool_calls) messages.push(await tools.find(({ name }) => name === call.name).invoke({ ...call, type: "tool_call" }))
}`

const openAi = (isStrict: boolean) => `
  import OpenAI from "openai"
const client = new OpenAI({ baseURL: url + "/v1", apiKey: "k" })
const tools = TOOLS.map(({ description, inputSchema, name }) => ({
  type: "function", name, description, strict: ${isStrict}, parameters: ${isStrict ? "strictSchema(inputSchema)" : "inputSchema"}
}))
const input = [{ role: "user", content: prompt }]
for (;;) {
  const { output, output_text } = await client.responses.create({ model: "gpt-5.1", instructions: INSTRUCTIONS, input, tools })
  const calls = output.filter(({ type }) => type === "function_call")
  if (calls.length === 0) { console.log(output_text); break }
  for (const call of calls) input.push(call, { type: "function_call_output", call_id: call.call_id, output: await answer(call.name, call.arguments) })
}`

const google = (parameters: string) => `
  import { GoogleGenAI } from "@google/genai"
const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: url } })
const functionDeclarations = TOOLS.map(({ description, inputSchema, name }) => ({ name, description, ${parameters} }))
const contents = [{ role: "user", parts: [{ text: prompt }] }]
for (;;) {
  const result = await client.models.generateContent({
    model: "gemini-3-pro", contents, config: { systemInstruction: INSTRUCTIONS, tools: [{ functionDeclarations }] }
  })
  const calls = result.functionCalls ?? []
  if (calls.length === 0) { console.log(result.text); break }
  contents.push(result.candidates[0].content)
  const parts = []
  for (const { args, name } of calls) parts.push({ functionResponse: { name, response: JSON.parse(await answer(name, args)) } })
  contents.push({ role: "user", parts })
}`

const ANTHROPIC = `
  import Anthropic from "@anthropic-ai/sdk"
const client = new Anthropic({ baseURL: url, apiKey: "k" })
const tools = TOOLS.map(({ description, inputSchema, name }) => ({ name, description, input_schema: inputSchema }))
const messages = [{ role: "user", content: prompt }]
for (;;) {
  const { content } = await client.messages.create({ model: "claude-opus-4-5", max_tokens: 100, system: INSTRUCTIONS, messages, tools })
  messages.push({ role: "assistant", content })
  const calls = content.filter(({ type }) => type === "tool_use")
  if (calls.length === 0) { console.log(content[0].text); break }
  const results = []
  for (const { id, input, name } of calls) results.push({ type: "tool_result", tool_use_id: id, content: await answer(name, input) })
  messages.push({ role: "user", content: results })
}`

const MISTRAL = `
  import { Mistral } from "@mistralai/mistralai"
const client = new Mistral({ serverURL: url, apiKey: "k" })
const tools = TOOLS.map(({ description, inputSchema, name }) => ({
  type: "function", function: { name, description, parameters: inputSchema }
}))
const messages = [{ role: "system", content: INSTRUCTIONS }, { role: "user", content: prompt }]
for (;;) {
  const { choices: [{ message }] } = await client.chat.complete({ model: "mistral-large-latest", messages, tools })
  messages.push(message)
  const calls = message.toolCalls ?? []
  if (calls.length === 0) { console.log(message.content); break }
  for (const { function: { arguments: input, name }, id } of calls)
    messages.push({ role: "tool", name, toolCallId: id, content: await answer(name, input) })
}`

const OPENAI_AGENTS = `
  import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents"
setTracingDisabled(true)
const tools = TOOLS.map(({ description, inputSchema, name }) =>
  tool({ name, description, parameters: inputSchema, strict: false, execute: (input) => answer(name, input) })
)
const modelProvider = new OpenAIProvider({ baseURL: url + "/v1", apiKey: "k" })
const runner = new Runner({ modelProvider, tracingDisabled: true })
const result = await runner.run(new Agent({ name: "Ada", model: "gpt-5.1", instructions: INSTRUCTIONS, tools }), prompt)
console.log(result.finalOutput)`

const MASTRA = `
  import { Agent } from "@mastra/core/agent"
${OPENAI_MODEL}
const ada = new Agent({ id: "ada", name: "Ada", model, instructions: INSTRUCTIONS, tools: aiSdkTools(agent) })
const { text } = await ada.generate(prompt, { maxSteps: 20 })
console.log(text)`

/** What each program begins with. */
export const PREAMBLE = `
  import { privateKeyToAccount } from "viem/accounts"
  import { AgentOs } from "./agentos/client.js"
  import { INSTRUCTIONS, openApiSchema, strictSchema, TOOLS } from "./agentos/tools.js"
const { BASE_URL, PRIVATE_KEY, PROVIDER_URL: url } = process.env
const agent = await AgentOs.connect(BASE_URL, { wallet: privateKeyToAccount(PRIVATE_KEY), spend: { perDay: "5.00" } })
const prompt = "Create a mailbox, and write to Bob."
const answer = async (name, input) => JSON.stringify((await TOOLS.find((tool) => tool.name === name).run(agent, input)).data)
`

const IMPORT_AI_SDK = `import { aiSdkTools } from "./agentos/ai-sdk.js"`

export interface Program {
  readonly name: string
  /** The packages whose versions it shows. */
  readonly packages: ReadonlyArray<string>
  readonly folder: "latest" | "ai-6"
  readonly text: string
}

const aiSdk = (folder: Program["folder"], provider: string, model: string): Program => ({
  name: `AI SDK ${folder === "latest" ? 7 : 6} with ${provider}`,
  packages: ["ai", provider],
  folder,
  text: IMPORT_AI_SDK + AI_SDK(model)
})

const program = (name: string, packages: ReadonlyArray<string>, text: string): Program => ({
  name,
  packages,
  folder: "latest",
  text
})

export const PROGRAMS: ReadonlyArray<Program> = [
  ...(["latest", "ai-6"] as const).flatMap((folder) => [
    aiSdk(folder, "@ai-sdk/openai", OPENAI_MODEL),
    aiSdk(folder, "@ai-sdk/google", GOOGLE_MODEL),
    aiSdk(folder, "@ai-sdk/anthropic", ANTHROPIC_MODEL)
  ]),
  aiSdk("latest", "@ai-sdk/mistral", MISTRAL_MODEL),
  program("LangChain with Chat Completions", ["@langchain/core", "@langchain/openai"], langChain("")),
  program("LangChain with Responses", ["@langchain/core", "@langchain/openai"], langChain("useResponsesApi: true")),
  program("OpenAI Agents SDK", ["@openai/agents"], OPENAI_AGENTS),
  program("Mastra", ["@mastra/core"], IMPORT_AI_SDK + MASTRA),
  program("OpenAI SDK, not strict", ["openai"], openAi(false)),
  program("OpenAI SDK, strict", ["openai"], openAi(true)),
  program("Google GenAI SDK with JSON Schema", ["@google/genai"], google("parametersJsonSchema: inputSchema")),
  program("Google GenAI SDK with OpenAPI schemas", ["@google/genai"], google("parameters: openApiSchema(inputSchema)")),
  program("Anthropic SDK", ["@anthropic-ai/sdk"], ANTHROPIC),
  program("Mistral SDK", ["@mistralai/mistralai"], MISTRAL)
]
