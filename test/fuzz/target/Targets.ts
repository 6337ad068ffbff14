import { cliTarget } from "./CliTarget.ts"
import { contractTarget } from "./ContractTarget.ts"
import { httpTarget } from "./HttpTarget.ts"
import { mimeTarget } from "./MimeTarget.ts"
import { smtpTarget } from "./SmtpTarget.ts"
import { socketTarget } from "./SocketTarget.ts"
import { erased, type Target } from "./Target.ts"
import { textTarget } from "./TextTarget.ts"
import { webhookTarget } from "./WebhookTarget.ts"

/** The order must not change: each target's cases depend on its place and the seed. */
export const TARGETS: ReadonlyArray<Target> = [
  erased(contractTarget),
  erased(httpTarget),
  erased(socketTarget),
  erased(smtpTarget),
  erased(mimeTarget),
  erased(webhookTarget),
  erased(textTarget),
  erased(cliTarget)
]
