import { AIMessage, HumanMessage, type ToolMessage } from "@langchain/core/messages"
import type { ChatResult } from "@langchain/core/outputs"
import { convertToOpenAITool } from "@langchain/core/utils/function_calling"
import { FakeChatModel } from "@langchain/core/utils/testing"
import { generateText, isStepCount, ToolLoopAgent } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { aiSdkTools } from "../src/adapter/AiSdk.ts"
import { langChainTools } from "../src/adapter/LangChain.ts"
import { INSTRUCTIONS, TOOLS } from "../src/index.ts"
import { startService } from "./support/Service.ts"

let world: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  world = await startService()
})
afterAll(() => world.service.close())

const NAMES = TOOLS.map(({ name }) => name)
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 }
}

/** A model that makes these tool calls, one a step, and then answers. */
const scriptedModel = (...calls: ReadonlyArray<readonly [toolName: string, input: object]>) =>
  new MockLanguageModelV4({
    doGenerate: [
      ...calls.map(([toolName, input], index) => ({
        content: [{ type: "tool-call" as const, toolCallId: `call-${index}`, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: "tool-calls" as const, raw: "tool_calls" },
        usage,
        warnings: []
      })),
      {
        content: [{ type: "text" as const, text: "Done." }],
        finishReason: { unified: "stop" as const, raw: "stop" },
        usage,
        warnings: []
      }
    ]
  })

describe("the tools for the AI SDK", () => {
  it("are called by a model, pay, and return their results to it", async () => {
    const agent = await world.connect()
    const model = scriptedModel(
      ["create_mailbox", { localPart: "sdk" }],
      ["send_email", { to: ["bob@outside.example"], subject: "Hi", text: "Hello" }],
      ["read_email", { messageId: "not-an-id" }]
    )
    const { steps, text } = await generateText({
      model,
      tools: aiSdkTools(agent),
      prompt: "Write to Bob.",
      stopWhen: isStepCount(5)
    })
    assert.strictEqual(text, "Done.")
    const outputs = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output as object))
    assert.lengthOf(outputs, 3)
    assert.deepNestedInclude(outputs[0], { "mailbox.address": "sdk@agents.test", "payment.spentLastDay": "0.25" })
    assert.deepNestedInclude(outputs[1], { "email.untrusted.subject": "Hi", "payment.spentLastDay": "0.27" })
    assert.deepNestedInclude(outputs[2], { "error.code": "INVALID_INPUT", "error.moneyMoved": "no" })
    // The model receives the schemas as they are declared.
    const offered = model.doGenerateCalls[0]?.tools ?? []
    assert.deepStrictEqual(
      offered.map((one) => (one.type === "function" ? ([one.name, one.inputSchema] as const) : [])),
      TOOLS.map(({ inputSchema, name }) => [name, inputSchema as object] as const)
    )
  })

  it("are given with the instructions by ToolLoopAgent, which versions 6 and 7 have", async () => {
    const model = scriptedModel(["list_mailboxes", {}])
    const tools = aiSdkTools(await world.connect())
    const { text } = await new ToolLoopAgent({ model, instructions: INSTRUCTIONS, tools }).generate({ prompt: "List." })
    assert.strictEqual(text, "Done.")
    assert.deepInclude(model.doGenerateCalls[0]?.prompt[0], { role: "system", content: INSTRUCTIONS })
  })

  it("can be a selection, and report the limits that the host names", async () => {
    const agent = await world.connect()
    const spent = () => ({ lastDay: "1.00", perCall: "2.00", perDay: "3.00", left: "2.00" })
    const tools = aiSdkTools(agent, { spent, tools: TOOLS.filter(({ name }) => name === "get_spending") })
    assert.deepStrictEqual(Object.keys(tools), ["get_spending"])
    const result: unknown = await tools["get_spending"]?.execute?.({}, { toolCallId: "1", messages: [], context: {} })
    assert.deepNestedInclude(result, { spentLastDay: "1.00", limitPerDay: "3.00", leftToday: "2.00" })
  })
})

/** A chat model that asks for one call of a tool. */
class CallingModel extends FakeChatModel {
  readonly call: { readonly name: string; readonly args: Record<string, unknown> }

  constructor(call: CallingModel["call"]) {
    super({})
    this.call = call
  }

  override async _generate(): Promise<ChatResult> {
    const tool_calls = [{ ...this.call, id: "call-1", type: "tool_call" as const }]
    return { generations: [{ text: "", message: new AIMessage({ content: "", tool_calls }) }] }
  }
}

describe("the tools for LangChain", () => {
  it("are called by a model, and return their results to it", async () => {
    const agent = await world.connect()
    const tools = langChainTools(agent)
    assert.deepStrictEqual(
      tools.map(({ name }) => name),
      NAMES
    )
    assert.deepStrictEqual(
      tools.map((tool) => convertToOpenAITool(tool).function.parameters as unknown),
      TOOLS.map(({ inputSchema }) => inputSchema as unknown)
    )
    const model = new CallingModel({ name: "create_mailbox", args: { localPart: "chain" } })
    const answer = await model.invoke([new HumanMessage("Create a mailbox.")])
    const [wanted] = answer.tool_calls ?? []
    const tool = tools.find(({ name }) => name === wanted?.name)
    const message = (await tool?.invoke({ ...wanted, type: "tool_call" } as never)) as ToolMessage
    assert.strictEqual(message.tool_call_id, "call-1")
    assert.deepNestedInclude(JSON.parse(message.text) as object, {
      "mailbox.address": "chain@agents.test",
      "payment.moneyMoved": "yes"
    })
  })

  it("show the model the field, the reason and a right call", async () => {
    const tools = langChainTools(await world.connect())
    const create = tools.find(({ name }) => name === "create_mailbox")
    const call = { name: "create_mailbox", args: { localPart: "chain-null", displayName: 7.5 }, id: "1" }
    const message = (await create?.invoke({ ...call, type: "tool_call" } as never)) as ToolMessage
    assert.strictEqual(message.tool_call_id, "1")
    assert.strictEqual(message.status, "error")
    assert.match(message.text, /displayName: .*for example with /)
    assert.include(await create?.invoke({ localPart: null } as never), "localPart: is required.")
    assert.include(await create?.invoke({ localPart: "chain-null", displayName: null } as never), '"created":true')
  })

  it("end a wait when the run is cancelled", async () => {
    const controller = new AbortController()
    const agent = await world.connect({ fetch: world.afterMessages(() => controller.abort(new Error("cancelled"))) })
    await agent.mailboxes.create({ localPart: "chain-waits" })
    const wait = langChainTools(agent).find(({ name }) => name === "wait_for_email")
    const error = await wait
      ?.invoke({ timeoutSeconds: 300 }, { signal: controller.signal })
      .catch((thrown: unknown) => thrown)
    assert.instanceOf(error, Error)
  })
})
