import {
  type Capabilities,
  isAvailable,
  isMarketplaceListing,
  isStartHere,
  type ServiceEntry,
  serviceEntry,
  Usdt
} from "@agentos/core"
import { errorCodesOf } from "../error/OperationErrors.ts"
import { describeInput, type Input, inputsOf } from "../operation/Inputs.ts"
import type { ApiOperation } from "../operation/ApiOperation.ts"
import type { ServiceRecord } from "../operation/ServiceRecord.ts"

const toInputRecord = (input: Input): ServiceRecord["inputs"][number] => {
  const { examples, format } = input.schema
  return {
    name: input.name,
    in: input.in,
    required: input.required,
    type: input.type,
    ...(typeof format === "string" ? { format } : {}),
    example: Array.isArray(examples) ? (examples[0] ?? null) : null,
    description: describeInput(input)
  }
}

export const toServiceRecord = (
  entry: ServiceEntry,
  operation: ApiOperation,
  capabilities: Capabilities
): ServiceRecord => {
  const available = isAvailable(entry, capabilities)
  return {
    serviceId: entry.serviceId,
    method: entry.method,
    path: entry.path,
    price: entry.price === null ? null : Usdt.toPrice(entry.price),
    authentication: entry.authentication,
    startHere: isStartHere(entry),
    available,
    marketplaceListing: isMarketplaceListing(entry, available),
    ...(entry.extension === undefined ? {} : { extension: entry.extension }),
    guide: entry.guide,
    purpose: entry.purpose,
    inputs: inputsOf(operation).map(toInputRecord),
    errors: [...errorCodesOf(entry)],
    nextActions: entry.nextActions.flatMap(({ serviceId, why }) => {
      const next = serviceEntry(serviceId)
      if (!isAvailable(next, capabilities)) return []
      const { method, path } = next
      return [{ serviceId, method, path, why }]
    })
  }
}
