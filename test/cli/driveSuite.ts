import { COMMANDS, type CommandName, exitsOf } from "@agentos/cli/testing"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { CliRig } from "./CliRig.ts"
import type { Drive, Drives, PaidDrive } from "./drive/Drive.ts"
import { goldenOf } from "./drive/Golden.ts"
import { INBOX_DRIVES, prepareInbox } from "./drive/InboxDrives.ts"
import { MAIL_DRIVES } from "./drive/MailDrives.ts"
import { PHONE_DRIVES } from "./drive/PhoneDrives.ts"
import { type Scene, Stage } from "./drive/Stage.ts"
import { DEV_DRIVES, TOOL_DRIVES } from "./drive/ToolDrives.ts"
import { WALLET_DRIVES } from "./drive/WalletDrives.ts"
import { JOURNEY_COMMANDS, type JourneyName } from "./journeySuite.ts"
import { hasTmux } from "./Terminal.ts"

const DRIVES: Drives<Exclude<CommandName, JourneyName>> = {
  ...WALLET_DRIVES,
  ...TOOL_DRIVES,
  ...DEV_DRIVES,
  ...MAIL_DRIVES,
  ...INBOX_DRIVES,
  ...PHONE_DRIVES
}

const nothing = () => Promise.resolve()

/** Groups of commands. The groups run concurrently, the commands of a group in order. */
const STAGES: ReadonlyArray<{
  readonly about: string
  readonly drives: Partial<typeof DRIVES>
  readonly prepare: (stage: Stage) => Promise<void>
}> = [
  { about: "wallets", drives: WALLET_DRIVES, prepare: nothing },
  { about: "the program itself", drives: TOOL_DRIVES, prepare: nothing },
  { about: "the sandbox", drives: DEV_DRIVES, prepare: nothing },
  { about: "mail", drives: MAIL_DRIVES, prepare: nothing },
  { about: "the inbox", drives: INBOX_DRIVES, prepare: prepareInbox },
  { about: "telephones", drives: PHONE_DRIVES, prepare: nothing }
]

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
 * Runs every command of the built program on success, failure and interruption, in a terminal and through pipes, against
 * the sandbox. The output is compared with golden files, and the payments with the chain.
 */
export const driveSuite = (rig: CliRig): void => {
  const readers = [
    { reader: "person", title: "in a terminal", suite: hasTmux ? describe.concurrent : describe.skip },
    { reader: "program", title: "through pipes", suite: describe.concurrent }
  ] as const
  it("covers every command", () => {
    const driven = STAGES.flatMap(({ drives }) => Object.keys(drives))
    assert.sameMembers(driven, Object.keys(DRIVES))
    assert.sameMembers(
      [...driven, ...JOURNEY_COMMANDS],
      COMMANDS.map(({ name }) => name)
    )
  })

  for (const { reader, suite, title } of readers)
    for (const { about, drives, prepare } of STAGES)
      suite(
        `every command about ${about}, ${title}${hasTmux || reader === "program" ? "" : " (tmux is not installed)"}`,
        () => {
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
              const scenes =
                reader === "person" ? asPerson(drive).map((scene) => ({ scene, more: "" })) : asProgram(drive)
              for (const { more, scene } of scenes) screens.push(await stage!.play(scene, more))
              checkExits(name, drive, scenes)
              await expect(masks.of(screens.join("\n"))).toMatchFileSnapshot(goldenOf(reader, name))
            })
        }
      )
}
