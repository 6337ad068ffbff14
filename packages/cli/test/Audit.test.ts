import { exitsOf } from "@agentos/node/command-line"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, expect, it, vi } from "vitest"
import type { CommandName } from "../src/command/Commands.ts"
import { COMMANDS } from "../src/command/Commands.ts"
import { ACCOUNT_PLANS } from "./audit/AccountPlans.ts"
import { EVENT_PLANS } from "./audit/EventPlans.ts"
import { MAIL_PLANS } from "./audit/MailPlans.ts"
import { PHONE_PLANS } from "./audit/PhonePlans.ts"
import type { Plan } from "./audit/Plan.ts"
import { TOOL_PLANS } from "./audit/ToolPlans.ts"
import { useApiDouble } from "./support/ApiDouble.ts"
import { play, type Reader, removeFolders, type Scene } from "./support/InProcess.ts"
import { KEY, TOKEN } from "./support/PaidAnswers.ts"

const api = useApiDouble()
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterAll(() => {
  vi.useRealTimers()
  removeFolders()
})

const PLANS: Readonly<Record<Exclude<CommandName, "voice answer">, Plan>> = {
  ...ACCOUNT_PLANS,
  ...MAIL_PLANS,
  ...PHONE_PLANS,
  ...EVENT_PLANS,
  ...TOOL_PLANS
}

const golden = (name: string) =>
  fileURLToPath(new URL(`golden/commands/${name.replaceAll(" ", "-")}.txt`, import.meta.url))

describe("output of every command on success, failure and interruption", () => {
  // It runs until it is interrupted; `tail/VoiceAnswering.test.ts` plays its sessions.
  for (const command of COMMANDS.filter(({ name }) => name !== "voice answer"))
    it(command.name, async () => {
      const { failure, forPrograms = [], interrupt, success } = PLANS[command.name as keyof typeof PLANS]
      const screens: Array<string> = []
      const show = async (scene: Scene, reader: Reader): Promise<void> => {
        const { answers: _unused, ...unasked } = scene
        const shown = reader === "person" ? scene : { ...unasked, args: [...scene.args, ...forPrograms, "--json"] }
        const { exit, text } = await play(api, shown, reader)
        const line = `$ agentctl ${shown.args.map((word) => (word.includes(" ") ? `"${word}"` : word)).join(" ")}`
        assert.strictEqual(exit, scene.exit, `${line}\n${text}`)
        // Help lists the exit code.
        assert.include(exitsOf(command), exit, line)
        assert.notInclude(text, KEY.slice(2))
        assert.notInclude(text, TOKEN)
        screens.push(`${line}\n${text}[exit ${exit}]\n`)
      }
      for (const scene of [success, failure]) {
        await show(scene, "person")
        await show(scene, "program")
      }
      assert.strictEqual(success.exit, 0)
      assert.isAbove(failure.exit, 0)
      if (typeof interrupt === "object") {
        assert.include([130, 8], interrupt.exit)
        await show(interrupt, "person")
      }
      await expect(screens.join("\n")).toMatchFileSnapshot(golden(command.name))
    })
})
