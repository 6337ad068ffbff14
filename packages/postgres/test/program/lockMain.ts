// Says `ready`; when told anything, locks the directory that it is given, says `held` and keeps it until it is
// killed; or says why it can't.
import { Effect } from "effect"
import { once } from "node:events"
import { lockDirectory } from "../../src/DirectoryLock.ts"

const [directory = ""] = process.argv.slice(2)
const say = (line: string) => Effect.sync(() => process.stdout.write(`${line}\n`))

await say("ready").pipe(
  Effect.andThen(Effect.promise(() => once(process.stdin, "data"))),
  Effect.andThen(lockDirectory(directory)),
  Effect.andThen(say("held")),
  // A fiber that waits for nothing keeps no process alive.
  Effect.andThen(Effect.sleep("1 hour")),
  Effect.scoped,
  Effect.catch((error) =>
    Effect.andThen(
      say(error.message),
      Effect.sync(() => process.exit())
    )
  ),
  Effect.runPromise
)
