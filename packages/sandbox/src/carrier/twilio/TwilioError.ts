/**
 * A request that Twilio's interface refuses, with a code of Twilio's own dictionary
 * (https://www.twilio.com/docs/api/errors).
 */
export class TwilioError extends Error {
  readonly status: number
  readonly code: number

  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }

  /** The answer's body. */
  get body() {
    return {
      code: this.code,
      message: this.message,
      more_info: `https://www.twilio.com/docs/errors/${this.code}`,
      status: this.status
    }
  }
}

export const notFound = (path: string): TwilioError =>
  new TwilioError(404, 20404, `The requested resource ${path} was not found`)

export const methodNotAllowed = (method: string): TwilioError =>
  new TwilioError(405, 20004, `Method ${method} is not allowed here`)

export const unauthenticated = (): TwilioError => new TwilioError(401, 20003, "Authenticate")

/** A wrong or unknown parameter. What the carrier refuses beyond Twilio's own rules says so. */
export const badParameter = (message: string): TwilioError => new TwilioError(400, 20001, message)
