import { COMMANDS, type CommandName, exitsOf } from "@agentos/cli/testing"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { CliRig } from "./CliRig.ts"
import type { Drive, Drives, PaidDrive } from "./drive/Drive.ts"
import { goldenOf, type Reader } from "./drive/Golden.ts"
import { INBOX_DRIVES, prepareInbox } from "./drive/InboxDrives.ts"
import { MAIL_DRIVES } from "./drive/MailDrives.ts"
import { PHONE_DRIVES } from "./drive/PhoneDrives.ts"
import { type Scene, Stage } from "./drive/Stage.ts"
import { DEV_DRIVES, TOOL_DRIVES } from "./drive/ToolDrives.ts"
import { WALLET_DRIVES } from "./drive/WalletDrives.ts"
import { JOURNEY_COMMANDS, type JourneyName } from "./journeySuite.ts"
import { hasTmux } from "./Terminal.ts"

const DRIVES: Drives<Exclude<CommandName, JourneyName | "mcp">> = {
  ...WALLET_DRIVES,
  ...TOOL_DRIVES,
  ...DEV_DRIVES,
  ...MAIL_DRIVES,
  ...INBOX_DRIVES,
  ...PHONE_DRIVES
}

const nothing = () => Promise.resolve()

/** Groups of commands. The groups run concurrently, the commands of a group in order. */
const STAGES: Readonly<
  Record<string, { readonly drives: Partial<typeof DRIVES>; readonly prepare: (stage: Stage) => Promise<void> }>
> = {
  wallets: { drives: WALLET_DRIVES, prepare: nothing },
  "the program itself": { drives: TOOL_DRIVES, prepare: nothing },
  "the sandbox": { drives: DEV_DRIVES, prepare: nothing },
  mail: { drives: MAIL_DRIVES, prepare: nothing },
  "the inbox": { drives: INBOX_DRIVES, prepare: prepareInbox },
  telephones: { drives: PHONE_DRIVES, prepare: nothing }
}

/** The commands that ask for hidden input and read a pasted key, so that they need a terminal most. */
const PROMPTING = ["wallets"]

const asPerson = ({ failure, interrupt, person = [], success, ...rest }: Drive | PaidDrive): ReadonlyArray<Scene> => [
  success,
  failure,
  ...(typeof interrupt === "object" ? [interrupt] : []),
  ...("sent" in rest ? [rest.sent] : []),
  ...person
]

const asProgram = ({ asProgram: own = {}, failure, forPrograms, program = [], success }: Drive) => {
  const more = forPrograms === undefined ? "" : ` ${forPrograms}`
  const played = [own.success ?? success, own.failure ?? failure].filter((scene) => typeof scene === "object")
  return [...played.map((scene) => ({ scene, more })), ...program.map((scene) => ({ scene, more: "" }))]
}

/** Checks the exit codes of the scenes against the help of the command. */
const checkExits = (
  name: CommandName,
  { failure, interrupt, success }: Drive,
  scenes: ReadonlyArray<{ readonly scene: Scene }>
): void => {
  const exits = exitsOf(COMMANDS.find((command) => command.name === name)!)
  for (const { scene } of scenes) assert.include(exits, scene.exit)
  assert.strictEqual(success.exit, 0)
  assert.isAbove(failure.exit, 0)
  if (typeof interrupt === "object") assert.include([130, 8], interrupt.exit)
}

const MILLIS_MAX = 300_000

/**
 * Runs commands of the built program on success, failure and interruption against the sandbox. The output is compared
 * with golden files, and the payments with the chain.
 */
const play = (rig: CliRig, reader: Reader, groups: ReadonlyArray<string>): void => {
  const isSkipped = reader === "person" && !hasTmux
  const place = reader === "person" ? "in a terminal" : "through pipes"
  for (const about of groups) {
    const { drives, prepare } = STAGES[about]!
    const title = `every command about ${about}, ${place}${isSkipped ? " (tmux is not installed)" : ""}`
    const suite = isSkipped ? describe.skip : describe.concurrent
    suite(title, () => {
      let stage: Stage | undefined
      beforeAll(async () => {
        stage = await Stage.open(rig, reader)
        await prepare(stage)
      })
      afterAll(() => stage?.close())
      for (const name of Object.keys(drives) as ReadonlyArray<keyof typeof DRIVES>)
        it(name, { concurrent: false, timeout: MILLIS_MAX }, async ({ expect }) => {
          const drive = await DRIVES[name](stage!)
          const masks = stage!.masks()
          const screens: Array<string> = []
          const scenes = reader === "person" ? asPerson(drive).map((scene) => ({ scene, more: "" })) : asProgram(drive)
          for (const { more, scene } of scenes) screens.push(await stage!.play(scene, more))
          checkExits(name, drive, scenes)
          await expect(masks.of(screens.join("\n"))).toMatchFileSnapshot(goldenOf(reader, name))
        })
    })
  }
}

/** Runs every command through pipes, and those that prompt most in a terminal. */
export const driveSuite = (rig: CliRig): void => {
  it("covers every command", () => {
    const driven = Object.values(STAGES).flatMap(({ drives }) => Object.keys(drives))
    assert.sameMembers(driven, Object.keys(DRIVES))
    assert.sameMembers(
      // mcpSuite.ts runs the server of tools.
      [...driven, ...JOURNEY_COMMANDS, "mcp"],
      COMMANDS.map(({ name }) => name)
    )
  })
  play(rig, "person", PROMPTING)
  play(rig, "program", Object.keys(STAGES))
}

/** Runs the other commands in a terminal. */
export const terminalSuite = (rig: CliRig): void =>
  play(
    rig,
    "person",
    Object.keys(STAGES).filter((about) => !PROMPTING.includes(about))
  )
