import { once } from "node:events"
import type { Attack } from "./Attack.ts"
import { HTTP_ATTACKS } from "./HttpAttacks.ts"
import { OUTSIDE_ATTACKS } from "./OutsideAttacks.ts"
import { SMTP_ATTACKS } from "./SmtpAttacks.ts"
import { SOCKET_ATTACKS } from "./SocketAttacks.ts"

const NONE: Attack = {
  name: "none",
  finding: 0,
  summary: "no attack: the honest client alone",
  run: async ({ signal }) => {
    if (!signal.aborted) await once(signal, "abort")
  }
}

export const ATTACKS: ReadonlyArray<Attack> = [
  NONE,
  ...HTTP_ATTACKS,
  ...SMTP_ATTACKS,
  ...SOCKET_ATTACKS,
  ...OUTSIDE_ATTACKS
]
