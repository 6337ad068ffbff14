import { cliTarget } from "./CliTarget.ts"
import { contractTarget } from "./ContractTarget.ts"
import { httpTarget } from "./HttpTarget.ts"
import { mimeTarget } from "./MimeTarget.ts"
import { smtpTarget } from "./SmtpTarget.ts"
import { socketTarget } from "./SocketTarget.ts"
import { erased, type Target } from "./Target.ts"
import { textTarget } from "./TextTarget.ts"
import { webhookTarget } from "./WebhookTarget.ts"

/** The order is part of what a seed means: each target's cases come from its place. */
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
