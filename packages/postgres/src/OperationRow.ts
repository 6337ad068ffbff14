import { type Operation, OperationState, type PaymentProof, type PaymentTerms, ServiceId } from "@agentos/core"
import * as Table from "./Table.ts"

/** As stored in JSON: amounts are decimal text. */
type StoredProof = Omit<PaymentProof, "value"> & { readonly value: string }
type StoredTerms = Omit<PaymentTerms, "amount"> & { readonly amount: string }

const encodeProof = (proof: PaymentProof): string => {
  const stored: StoredProof = { ...proof, value: proof.value.toString() }
  return JSON.stringify(stored)
}

const encodeTerms = (terms: PaymentTerms): string => {
  const stored: StoredTerms = { ...terms, amount: terms.amount.toString() }
  return JSON.stringify(stored)
}

const decodeProof = (text: string): PaymentProof => {
  const stored: StoredProof = JSON.parse(text)
  return { ...stored, value: BigInt(stored.value) }
}

const decodeTerms = (text: string): PaymentTerms => {
  const stored: StoredTerms = JSON.parse(text)
  return { ...stored, amount: BigInt(stored.amount) }
}

/** The fields that a claim inserts. */
export const CLAIMED = {
  operationId: Table.uuid("operation_id"),
  tenantId: Table.uuid("tenant_id"),
  serviceId: Table.literal(ServiceId).column("service_id"),
  endpoint: Table.text("endpoint"),
  idempotencyKey: Table.text("idempotency_key"),
  fingerprint: Table.text("fingerprint"),
  requestId: Table.text("request_id"),
  trace: Table.textOrNull("trace"),
  proof: Table.asText(decodeProof, encodeProof).column("proof"),
  terms: Table.asText(decodeTerms, encodeTerms).column("terms"),
  input: Table.text("input"),
  plan: Table.text("plan"),
  state: Table.literal(OperationState).column("state"),
  createdAt: Table.moment("created_at"),
  updatedAt: Table.moment("updated_at")
}

/** The fields that a move may change. */
export const CHANGEABLE = {
  nonceReadAtBlock: Table.blockOrNull("nonce_read_at_block"),
  transaction: Table.textOrNull("transaction"),
  refundNonce: Table.textOrNull("refund_nonce"),
  refundTransaction: Table.textOrNull("refund_transaction"),
  failure: Table.json<NonNullable<Operation["failure"]>>().orNull("failure"),
  answer: Table.groupOrNull({
    created: Table.boolean("answer_created"),
    body: Table.text("answer_body"),
    slots: Table.json<NonNullable<Operation["answer"]>["slots"]>().column("answer_slots")
  }),
  receipt: Table.textOrNull("receipt")
}

const FAILED_ATTEMPT = {
  failedAttempt: Table.groupOrNull({
    state: Table.literal(OperationState).column("failed_state"),
    attempts: Table.integer("failed_attempts"),
    at: Table.moment("failed_at"),
    reason: Table.text("failed_reason")
  })
}

const LEASE = { leasedUntil: Table.momentOrNull("leased_until"), dueAt: Table.momentOrNull("due_at") }

export const OPERATIONS = Table.table("operations", {
  ...CLAIMED,
  ...CHANGEABLE,
  ...LEASE,
  ...FAILED_ATTEMPT,
  fence: Table.integer("fence")
})

export type OperationRow = Table.Stored<typeof OPERATIONS>

export const toOperation: (row: OperationRow) => Operation = OPERATIONS.toRecord

/** The columns that every move changes. */
export const TIMES = Table.table("operations", { ...LEASE, updatedAt: CLAIMED.updatedAt })

/** The columns that both the summary and the status of an operation have. */
const SHOWN = {
  operationId: CLAIMED.operationId,
  tenantId: CLAIMED.tenantId,
  serviceId: CLAIMED.serviceId,
  state: CLAIMED.state,
  network: Table.text("network"),
  asset: Table.text("asset"),
  payer: Table.text("payer"),
  amount: Table.asText(BigInt, String).column("amount"),
  transaction: CHANGEABLE.transaction,
  refundTransaction: CHANGEABLE.refundTransaction,
  failure: CHANGEABLE.failure,
  createdAt: CLAIMED.createdAt,
  updatedAt: CLAIMED.updatedAt
}

/** The columns of an operation's summary: none of the wide ones. */
export const SUMMARIES = Table.table("operations", { ...SHOWN, ...LEASE, ...FAILED_ATTEMPT })

/** The columns of an operation's status, beside those that are computed. */
export const STATUSES = Table.table("operations", { ...SHOWN, terms: CLAIMED.terms, receipt: CHANGEABLE.receipt })
