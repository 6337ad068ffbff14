import { EmailProvider } from "@agentos/core"
import { serverProgramAround } from "@agentos/http-server/ServerProgram"
import { Effect } from "effect"
import { runCrashServer } from "../CrashServer.ts"
import { aroundMail } from "./AroundPort.ts"

/** A server that writes a mail down as sent whatever the relay has to say. */
runCrashServer(
  serverProgramAround(
    aroundMail((provider) =>
      EmailProvider.of({
        ...provider,
        send: (mail) =>
          Effect.catch(provider.send(mail), () =>
            Effect.succeed({ accepted: [...mail.to, ...mail.cc, ...mail.bcc], rejected: [], response: "assumed" })
          )
      })
    )
  )
)
