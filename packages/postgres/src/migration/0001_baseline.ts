import { Effect } from "effect"
import { createEmail } from "./baseline/Email.ts"
import { createEvents } from "./baseline/Events.ts"
import { createMail } from "./baseline/Mail.ts"
import { createPayments } from "./baseline/Payments.ts"
import { createPhone } from "./baseline/Phone.ts"
import { createServer } from "./baseline/Server.ts"
import { createTenants } from "./baseline/Tenants.ts"

/** The schema of the first release, by subject. Tables come before those that refer to them. */
export const createBaseline = Effect.all(
  [createServer, createTenants, createEvents, createPayments, createEmail, createMail, createPhone],
  { discard: true }
)
