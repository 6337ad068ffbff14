import { type Operation, OperationState, type PaymentProof, type PaymentTerms, ServiceId } from "@agentos/core"
import * as Row from "./Row.ts"

export const OPERATION_COLUMNS = `
  operation_id, tenant_id, service_id, endpoint, idempotency_key, fingerprint, request_id, proof, terms, input, plan,
  state, nonce_read_at_block, transaction, refund_nonce, refund_transaction, failure, answer_created, answer_body,
  answer_slots, receipt, fence, leased_until, due_at, created_at, updated_at`

export interface OperationRow {
  readonly operation_id: string
  readonly tenant_id: string
  readonly service_id: string
  readonly endpoint: string
  readonly idempotency_key: string
  readonly fingerprint: string
  readonly request_id: string
  readonly proof: string
  readonly terms: string
  readonly input: string
  readonly plan: string
  readonly state: string
  readonly nonce_read_at_block: string | null
  readonly transaction: string | null
  readonly refund_nonce: string | null
  readonly refund_transaction: string | null
  readonly failure: string | null
  readonly answer_created: boolean | null
  readonly answer_body: string | null
  readonly answer_slots: string | null
  readonly receipt: string | null
  readonly fence: number
  readonly leased_until: bigint | null
  readonly due_at: bigint | null
  readonly created_at: bigint
  readonly updated_at: bigint
}

/** As stored in JSON: amounts are decimal text. */
type StoredProof = Omit<PaymentProof, "value"> & { readonly value: string }
type StoredTerms = Omit<PaymentTerms, "amount"> & { readonly amount: string }

export const encodeProof = (proof: PaymentProof): string => {
  const stored: StoredProof = { ...proof, value: proof.value.toString() }
  return JSON.stringify(stored)
}

export const encodeTerms = (terms: PaymentTerms): string => {
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

const toServiceId = Row.literalOf(ServiceId)
export const toState = Row.literalOf(OperationState)

const toFailure = (text: string | null): Operation["failure"] => {
  const failure: Operation["failure"] = text === null ? null : JSON.parse(text)
  return failure
}

const toAnswer = (row: OperationRow): Operation["answer"] => {
  if (row.answer_created === null || row.answer_body === null || row.answer_slots === null) return null
  const slots: NonNullable<Operation["answer"]>["slots"] = JSON.parse(row.answer_slots)
  return { created: row.answer_created, body: row.answer_body, slots }
}

/** The columns that every move changes. */
export type TimesRow = Pick<OperationRow, "leased_until" | "due_at" | "updated_at">

export const toTimes = (row: TimesRow): Pick<Operation, "leasedUntil" | "dueAt" | "updatedAt"> => ({
  leasedUntil: Row.toMomentOrNull(row.leased_until),
  dueAt: Row.toMomentOrNull(row.due_at),
  updatedAt: Row.toMoment(row.updated_at)
})

export const toOperation = (row: OperationRow): Operation => ({
  operationId: row.operation_id,
  tenantId: row.tenant_id,
  serviceId: toServiceId(row.service_id),
  endpoint: row.endpoint,
  idempotencyKey: row.idempotency_key,
  fingerprint: row.fingerprint,
  requestId: row.request_id,
  proof: decodeProof(row.proof),
  terms: decodeTerms(row.terms),
  input: row.input,
  plan: row.plan,
  state: toState(row.state),
  nonceReadAtBlock: row.nonce_read_at_block === null ? null : BigInt(row.nonce_read_at_block),
  transaction: row.transaction,
  refundNonce: row.refund_nonce,
  refundTransaction: row.refund_transaction,
  failure: toFailure(row.failure),
  answer: toAnswer(row),
  receipt: row.receipt,
  fence: row.fence,
  createdAt: Row.toMoment(row.created_at),
  ...toTimes(row)
})
