// Generated from the OpenAPI document by `npx -y pnpm@12 --filter @agentos/client generate`.
export interface components {
    schemas: {
        AcknowledgeAllInput: {
            before: string;
            service?: string;
            types?: string[];
        };
        ApiDescription: {
            authentication: {
                rules: string[];
                scheme: "bearer";
                startHere: components["schemas"]["ServiceId"][];
                tokenPrefix: string;
            };
            environment: "production" | "sandbox";
            guides: {
                docs: string;
                llms: string;
                openapi: string;
                serviceCatalog: string;
            };
            name: string;
            payment: {
                accepts: {
                    asset: string;
                    extra: {
                        [key: string]: string | number;
                    };
                    maxTimeoutSeconds: number;
                    network: string;
                    payTo: string;
                }[];
                protocol: "x402";
                scheme: "exact";
                x402Version: 2;
            };
            services: {
                extension?: true;
                method: "GET" | "POST" | "DELETE";
                path: string;
                price: components["schemas"]["Price"] | null;
                serviceId: components["schemas"]["ServiceId"];
            }[];
            version: string;
        };
        Attachment: {
            attachmentId: string;
            contentType: string;
            filename: string | null;
            sha256: string;
            sizeBytes: number;
        };
        Call: {
            answeredAt: string | null;
            authorizedSeconds: number;
            callId: string;
            connectedSeconds: number;
            createdAt: string;
            direction: "inbound" | "outbound";
            endedAt: string | null;
            endReason: "completed" | "hangup_agent" | "time_limit" | "no_answer" | "busy" | "failed" | "allowance_exhausted" | null;
            fromNumber: string;
            phoneNumberId: string;
            status: "queued" | "ringing" | "in_progress" | "ended";
            toNumber: string;
        };
        CallIdInput: {
            callId: string;
        };
        /** @description @internal */
        CallInterrupted: {
            callId: string;
            turnId: string;
            type: "call.interrupted";
        };
        /** @description @internal */
        CallReply: {
            callId: string;
            hangup?: boolean;
            more?: boolean;
            text?: string;
            turnId: string;
            type: "call.reply";
        };
        CallTurn: {
            callId: string;
            direction: "inbound" | "outbound";
            from: string;
            phoneNumberId: string;
            to: string;
            transcriptSoFar: {
                at: string;
                role: "agent" | "caller" | "system";
                text: string;
            }[];
            turn: {
                at: string;
                text: string;
            };
            turnId: string;
            type: "call.turn";
        };
        CreateMailboxInput: {
            displayName?: string;
            localPart: string;
            outboundSignature?: string;
            senderPolicy?: {
                allow?: string[];
                block?: string[];
                mode?: "anyone" | "authenticated" | "listed";
            };
        };
        DeleteMailboxInput: {
            mailboxId: string;
        };
        EmailReceivedEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["EmailReceivedPayload"];
            type: "email.received";
        };
        EmailReceivedPayload: {
            authentication: components["schemas"]["SenderAuthentication"] | null;
            emailId: string;
            eventId: string;
            from: string;
            mailboxId: string;
            receivedAt: string;
            subject: string;
            type: "email.received";
        };
        Error: {
            error: {
                code: components["schemas"]["ErrorCode"];
                issues?: components["schemas"]["Issue"][];
                message: string;
                next?: components["schemas"]["NextCall"];
                onboarding?: components["schemas"]["Onboarding"];
                paymentState?: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
                requestId: string;
                retryable: boolean;
            };
            guides: components["schemas"]["Guides"];
        };
        ErrorCode: "INVALID_REQUEST" | "AUTH_REQUIRED" | "INVALID_TOKEN" | "PAYMENT_REQUIRED" | "FORBIDDEN" | "RESOURCE_NOT_OWNED" | "RESOURCE_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PAYMENT_PENDING" | "ALLOWANCE_EXHAUSTED" | "NUMBER_EXPIRING" | "NUMBER_RELEASED" | "PAYLOAD_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "UPGRADE_REQUIRED" | "ONBOARDING_REQUIRED" | "RATE_LIMITED" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "PROVIDER_TEMPORARY_FAILURE" | "PROVIDER_REJECTED" | "SERVICE_UNAVAILABLE";
        Event: {
            acknowledgedAt: string | null;
            agentId: string;
            createdAt: string;
            deliveredAt: string | null;
            deliveryCount: number;
            eventId: string;
            expiresAt: string;
            resourceId: string;
            service: string;
            source: string;
            status: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
        };
        /** @description @internal */
        EventAcknowledge: {
            deliveryId?: string;
            eventId: string;
            type: "event.ack";
        };
        /** @description @internal */
        EventAcknowledged: {
            eventId: string;
            type: "event.acknowledged";
        };
        /** @description @internal */
        EventAcknowledgementStale: {
            eventId: string;
            reason?: "lease_lost" | "expired";
            type: "event.ack_stale";
        };
        /** @description @internal */
        EventDelivery: {
            deliveryId: string;
            event: components["schemas"]["EventRecord"];
            type: "event.delivery";
        };
        EventIdInput: {
            eventId: string;
        };
        /** @description @internal */
        EventObserved: {
            event: components["schemas"]["EventRecord"];
            type: "event.observed";
        };
        EventRecord: components["schemas"]["EmailReceivedEvent"] | components["schemas"]["PhoneCallStartedEvent"] | components["schemas"]["PhoneCallEndedEvent"] | components["schemas"]["PhoneNumberExpiringEvent"] | components["schemas"]["PhoneNumberRenewedEvent"] | components["schemas"]["PhoneNumberReleasedEvent"] | components["schemas"]["PhoneNumberSuspendedEvent"] | components["schemas"]["PhoneNumberReconciledEvent"] | components["schemas"]["PaymentCompletedEvent"] | components["schemas"]["PaymentFailedEvent"] | components["schemas"]["PaymentRefundedEvent"] | components["schemas"]["EventsWebhookPausedEvent"];
        EventsWebhookPausedEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["EventsWebhookPausedPayload"];
            type: "events.webhook.paused";
        };
        EventsWebhookPausedPayload: {
            error: string;
            eventId: string;
            pausedAt: string;
            type: "events.webhook.paused";
            undeliveredEventId: string;
            url: string;
            webhookId: string;
        };
        EventWebhook: {
            createdAt: string;
            pausedAt: string | null;
            previousSecretValidUntil: string | null;
            status: "active" | "paused";
            types: ("email.received" | "phone.call.started" | "phone.call.ended" | "phone.number.expiring" | "phone.number.renewed" | "phone.number.released" | "phone.number.suspended" | "phone.number.reconciled" | "payment.completed" | "payment.failed" | "payment.refunded" | "events.webhook.paused")[] | null;
            updatedAt: string;
            url: string;
            webhookId: string;
        };
        Guides: {
            llms: string;
            openapi: string;
            serviceCatalog: string;
        };
        Issue: {
            message: string;
            path: string;
        };
        ListEventsInput: {
            agentId?: string;
            cursor?: string;
            from?: string;
            limit?: number;
            resourceId?: string;
            service?: string;
            status?: "pending" | "delivered" | "acknowledged" | "expired" | "failed";
            to?: string;
            types?: string[];
        };
        Mailbox: {
            active: boolean;
            address: string;
            createdAt: string;
            displayName: string | null;
            localPart: string;
            mailboxId: string;
            outboundSignature: string | null;
            senderPolicy: components["schemas"]["SenderPolicy"];
            updatedAt: string;
        };
        Message: {
            attachments: components["schemas"]["Attachment"][];
            authentication: components["schemas"]["SenderAuthentication"] | null;
            bcc: string[];
            cc: string[];
            createdAt: string;
            direction: "inbound" | "outbound";
            extractedText: string | null;
            from: string;
            html: string | null;
            inReplyTo: string | null;
            mailboxId: string;
            malformed: boolean;
            messageId: string;
            messageIdHeader: string | null;
            recipients: components["schemas"]["Recipient"][];
            references: string[];
            sender: {
                address: string;
                name: string | null;
            };
            snippet: string;
            status: "received" | "queued" | "sent" | "delivered" | "bounced" | "complained" | "failed";
            subject: string;
            text: string | null;
            threadId: string;
            to: string[];
            truncated: boolean;
        };
        MessagePage: {
            items: components["schemas"]["MessageSummary"][];
            nextCursor: string | null;
        };
        MessageSummary: {
            attachments: components["schemas"]["Attachment"][];
            authentication: components["schemas"]["SenderAuthentication"] | null;
            bcc: string[];
            cc: string[];
            createdAt: string;
            direction: "inbound" | "outbound";
            from: string;
            inReplyTo: string | null;
            mailboxId: string;
            malformed: boolean;
            messageId: string;
            messageIdHeader: string | null;
            recipients: components["schemas"]["Recipient"][];
            references: string[];
            sender: {
                address: string;
                name: string | null;
            };
            snippet: string;
            status: "received" | "queued" | "sent" | "delivered" | "bounced" | "complained" | "failed";
            subject: string;
            threadId: string;
            to: string[];
            truncated: boolean;
        };
        NextCall: {
            body?: Record<string, unknown>;
            method: "GET" | "POST" | "DELETE";
            path: string;
        };
        NumberIdInput: {
            phoneNumberId: string;
        };
        Onboarding: {
            endpoint: string;
            method: "GET" | "POST";
            price: components["schemas"]["Price"];
            requiredInput: {
                description: string;
                name: string;
            }[];
            serviceId: components["schemas"]["ServiceId"];
        };
        Operations: {
            acknowledgeAllEvents: {
                input: components["schemas"]["AcknowledgeAllInput"];
                output: {
                    acknowledged: number;
                };
            };
            acknowledgeEvent: {
                input: components["schemas"]["EventIdInput"];
                output: {
                    event: components["schemas"]["EventRecord"];
                };
            };
            acknowledgeEventById: {
                input: {
                    eventId: string;
                };
                output: {
                    event: components["schemas"]["EventRecord"];
                };
            };
            addInboundMinutes: {
                input: components["schemas"]["NumberIdInput"];
                output: {
                    operationId: string;
                    phoneNumber: components["schemas"]["PhoneNumber"];
                };
            };
            callFiveMinutes: {
                input: components["schemas"]["PlaceCallInput"];
                output: {
                    call: components["schemas"]["Call"];
                    operationId: string;
                };
            };
            callOneMinute: {
                input: components["schemas"]["PlaceCallInput"];
                output: {
                    call: components["schemas"]["Call"];
                    operationId: string;
                };
            };
            createMailbox: {
                input: components["schemas"]["CreateMailboxInput"];
                output: {
                    authentication: {
                        accessToken: string;
                    };
                    mailbox: components["schemas"]["Mailbox"];
                    operationId: string;
                };
            };
            deleteEventWebhook: {
                input: Record<string, unknown>;
                output: {
                    deleted: true;
                    webhookId: string;
                };
            };
            deleteMailbox: {
                input: components["schemas"]["DeleteMailboxInput"];
                output: {
                    deleted: true;
                    mailboxId: string;
                    messagesDeleted: number;
                    operationId: string;
                };
            };
            describeApi: {
                input: Record<string, unknown>;
                output: components["schemas"]["ApiDescription"];
            };
            extendCall: {
                input: components["schemas"]["CallIdInput"];
                output: {
                    call: components["schemas"]["Call"];
                    operationId: string;
                };
            };
            getAttachment: {
                input: {
                    attachmentId: string;
                    messageId: string;
                };
                output: unknown;
            };
            getCall: {
                input: {
                    callId: string;
                };
                output: {
                    call: components["schemas"]["Call"];
                };
            };
            getEvent: {
                input: components["schemas"]["EventIdInput"];
                output: {
                    event: components["schemas"]["EventRecord"];
                };
            };
            getEventWebhook: {
                input: Record<string, unknown>;
                output: {
                    webhook: components["schemas"]["EventWebhook"];
                };
            };
            getPayment: {
                input: {
                    operationId: string;
                };
                output: {
                    payment: components["schemas"]["PaymentStatus"];
                };
            };
            getRawMessage: {
                input: {
                    messageId: string;
                };
                output: unknown;
            };
            getRealtimeToken: {
                input: {
                    cursor?: string;
                };
                output: {
                    items: components["schemas"]["EventRecord"][];
                    nextCursor?: string | null;
                    pending?: number;
                    realtime: {
                        expiresAt: string;
                        token: string;
                        websocketUrl: string;
                    };
                };
            };
            getService: {
                input: {
                    serviceId: string;
                };
                output: {
                    service: components["schemas"]["Service"];
                };
            };
            getTranscript: {
                input: {
                    callId: string;
                };
                output: {
                    transcript: components["schemas"]["Transcript"];
                };
            };
            listCalls: {
                input: {
                    after?: string;
                    before?: string;
                    cursor?: string;
                    direction?: "inbound" | "outbound";
                    limit?: number;
                    phoneNumberId?: string;
                };
                output: {
                    items: components["schemas"]["Call"][];
                    nextCursor: string | null;
                };
            };
            listEvents: {
                input: components["schemas"]["ListEventsInput"];
                output: {
                    items: components["schemas"]["EventRecord"][];
                    nextCursor: string | null;
                };
            };
            listMailboxes: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["Mailbox"][];
                };
            };
            listNumbers: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["PhoneNumber"][];
                };
            };
            listServices: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["Service"][];
                };
            };
            listVoices: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["Voice"][];
                };
            };
            listWebhookDeliveries: {
                input: Record<string, unknown>;
                output: {
                    items: components["schemas"]["WebhookDelivery"][];
                };
            };
            purchaseCanadaNumber: {
                input: components["schemas"]["PurchaseNumberInput"];
                output: {
                    authentication: {
                        accessToken: string;
                    };
                    callbackVerificationSecret: string;
                    number: string;
                    operationId: string;
                    phoneNumber: components["schemas"]["PhoneNumber"];
                    phoneNumberId: string;
                };
            };
            purchaseUsNumber: {
                input: components["schemas"]["PurchaseNumberInput"];
                output: {
                    authentication: {
                        accessToken: string;
                    };
                    callbackVerificationSecret: string;
                    number: string;
                    operationId: string;
                    phoneNumber: components["schemas"]["PhoneNumber"];
                    phoneNumberId: string;
                };
            };
            queryMessages: {
                input: {
                    after?: string;
                    before?: string;
                    cursor?: string;
                    direction?: "inbound" | "outbound";
                    from?: string & (string & unknown);
                    limit?: number;
                    mailboxId?: string;
                    messageId?: string;
                    q?: string;
                    threadId?: string;
                };
                output: components["schemas"]["MessagePage"] | components["schemas"]["SingleMessage"];
            };
            readPaymentStatus: {
                input: {
                    "PAYMENT-SIGNATURE": string;
                };
                output: {
                    payment: components["schemas"]["PaymentStatus"];
                };
            };
            recoverToken: {
                input: Record<string, unknown>;
                output: {
                    authentication: {
                        accessToken: string;
                    };
                };
            };
            registerDomain: {
                input: Record<string, unknown>;
                output: unknown;
            };
            releaseNumber: {
                input: components["schemas"]["ReleaseNumberInput"];
                output: {
                    phoneNumber: components["schemas"]["PhoneNumber"];
                };
            };
            renewNumber: {
                input: components["schemas"]["NumberIdInput"];
                output: {
                    operationId: string;
                    phoneNumber: components["schemas"]["PhoneNumber"];
                };
            };
            replayEvents: {
                input: {
                    cursor?: string;
                    limit?: number;
                };
                output: {
                    items: components["schemas"]["EventRecord"][];
                    nextCursor?: string | null;
                    pending?: number;
                };
            };
            revokeTokens: {
                input: Record<string, unknown>;
                output: {
                    authentication: {
                        accessToken: string;
                    };
                };
            };
            sendMessage: {
                input: components["schemas"]["SendMessageInput"];
                output: {
                    message: components["schemas"]["Message"];
                    operationId: string;
                };
            };
            setEventWebhook: {
                input: components["schemas"]["SetEventWebhookInput"];
                output: {
                    signingSecret: string;
                    webhook: components["schemas"]["EventWebhook"];
                };
            };
            updateMailbox: {
                input: components["schemas"]["UpdateMailboxInput"];
                output: {
                    mailbox: components["schemas"]["Mailbox"];
                    operationId: string;
                };
            };
        };
        PaymentCompletedEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["PaymentCompletedPayload"];
            type: "payment.completed";
        };
        PaymentCompletedPayload: {
            baseUnits: string;
            endpoint: string;
            eventId: string;
            network: string;
            operationId: string;
            payer: string;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
            payTo: string;
            price?: components["schemas"]["Price"];
            requestId: string;
            serviceId: components["schemas"]["ServiceId"];
            token: string;
            transaction: string | null;
            type: "payment.completed";
        };
        PaymentFailedEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["PaymentFailedPayload"];
            type: "payment.failed";
        };
        PaymentFailedPayload: {
            baseUnits: string;
            endpoint: string;
            eventId: string;
            network: string;
            operationId: string;
            payer: string;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
            payTo: string;
            price?: components["schemas"]["Price"];
            reason: {
                kind: "used_before" | "settled_elsewhere" | "refused" | "expired" | "used_otherwise" | "rejected" | "gone" | "late";
                message: string;
            } | null;
            requestId: string;
            serviceId: components["schemas"]["ServiceId"];
            token: string;
            transaction: string | null;
            type: "payment.failed";
        };
        PaymentRefundedEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["PaymentRefundedPayload"];
            type: "payment.refunded";
        };
        PaymentRefundedPayload: {
            amount?: components["schemas"]["Price"];
            baseUnits: string;
            endpoint: string;
            eventId: string;
            network: string;
            operationId: string;
            payer: string;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
            paymentTransaction: string | null;
            payTo: string;
            price?: components["schemas"]["Price"];
            requestId: string;
            serviceId: components["schemas"]["ServiceId"];
            token: string;
            transaction: string | null;
            type: "payment.refunded";
        };
        PaymentStatus: {
            advice: "pay" | "retry_same" | "wait" | "done";
            amount: string;
            asset: string;
            createdAt: string | null;
            network: string;
            operationId: string | null;
            paymentState: "none" | "pending" | "settled" | "refund_due" | "refunded" | "unknown";
            reason: {
                kind: "used_before" | "settled_elsewhere" | "refused" | "expired" | "used_otherwise" | "rejected" | "gone" | "late";
                message: string;
            } | null;
            receipt: string | null;
            refund: {
                transaction: string;
            } | null;
            retryAfterSeconds?: number;
            serviceId: components["schemas"]["ServiceId"] | null;
            transaction: string | null;
            updatedAt: string | null;
        };
        PhoneCallEndedEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["PhoneCallEndedPayload"];
            type: "phone.call.ended";
        };
        PhoneCallEndedPayload: {
            answeredAt: string | null;
            callId: string;
            connectedSeconds: number;
            declinedCalls?: number;
            direction: "inbound" | "outbound";
            endedAt: string | null;
            endReason: "completed" | "hangup_agent" | "time_limit" | "no_answer" | "busy" | "failed" | "allowance_exhausted" | null;
            eventId: string;
            fromNumber: string;
            phoneNumberId: string;
            toNumber: string;
            type: "phone.call.ended";
        };
        PhoneCallStartedEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["PhoneCallStartedPayload"];
            type: "phone.call.started";
        };
        PhoneCallStartedPayload: {
            answeredAt: string | null;
            callId: string;
            direction: "inbound" | "outbound";
            eventId: string;
            fromNumber: string;
            phoneNumberId: string;
            toNumber: string;
            type: "phone.call.started";
        };
        PhoneNumber: {
            agentId: string;
            agentName: string;
            agentWebhookUrl: string;
            beginMessage: string | null;
            country: "US" | "CA";
            createdAt: string;
            description: string | null;
            entitlement: {
                expiresAt: string;
                secondsRemaining: number;
                startedAt: string;
            };
            inboundAllowance: {
                purchasedSeconds: number;
                remainingSeconds: number;
                usedSeconds: number;
            };
            language: string | null;
            number: string;
            phoneNumberId: string;
            releasedAt: string | null;
            status: "active" | "expiring" | "suspended" | "released";
            voice: string | null;
        };
        PhoneNumberExpiringEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["PhoneNumberExpiringPayload"];
            type: "phone.number.expiring";
        };
        PhoneNumberExpiringPayload: {
            daysBefore: 5 | 3 | 1;
            eventId: string;
            expiresAt: string;
            number: string;
            phoneNumberId: string;
            price: components["schemas"]["Price"] | null;
            releaseWarning: string;
            renewalDeadline: string;
            renewalEndpoint: {
                method: "GET" | "POST" | "DELETE";
                path: string;
            };
            requestBody: {
                phoneNumberId: string;
            };
            type: "phone.number.expiring";
        };
        PhoneNumberReconciledEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["PhoneNumberReconciledPayload"];
            type: "phone.number.reconciled";
        };
        PhoneNumberReconciledPayload: {
            eventId: string;
            finding: string;
            number: string;
            phoneNumberId: string;
            releasedAt: string | null;
            type: "phone.number.reconciled";
        };
        PhoneNumberReleasedEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["PhoneNumberReleasedPayload"];
            type: "phone.number.released";
        };
        PhoneNumberReleasedPayload: {
            eventId: string;
            number: string;
            phoneNumberId: string;
            reason: "expired" | "release_requested" | null;
            releasedAt: string | null;
            type: "phone.number.released";
        };
        PhoneNumberRenewedEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["PhoneNumberRenewedPayload"];
            type: "phone.number.renewed";
        };
        PhoneNumberRenewedPayload: {
            eventId: string;
            expiresAt: string;
            number: string;
            operationId: string;
            phoneNumberId: string;
            type: "phone.number.renewed";
        };
        PhoneNumberSuspendedEvent: components["schemas"]["Event"] & {
            payload: components["schemas"]["PhoneNumberSuspendedPayload"];
            type: "phone.number.suspended";
        };
        PhoneNumberSuspendedPayload: {
            eventId: string;
            expiresAt: string;
            number: string;
            phoneNumberId: string;
            type: "phone.number.suspended";
        };
        PlaceCallInput: {
            initialGreeting?: string;
            phoneNumberId: string;
            toNumber: string;
        };
        Price: {
            amount: string;
            asset: "USDT";
        };
        PurchaseNumberInput: {
            agentName: string;
            agentWebhookUrl: string;
            areaCode?: string;
            beginMessage?: string;
            description?: string;
            language?: string;
            voice?: string;
        };
        /** @description @internal */
        RealtimeClientMessage: components["schemas"]["SessionAuthenticate"] | components["schemas"]["EventAcknowledge"] | components["schemas"]["CallReply"];
        /** @description @internal */
        RealtimeError: {
            code: components["schemas"]["ErrorCode"];
            message: string;
            type: "error";
        };
        /** @description @internal */
        RealtimeServerMessage: components["schemas"]["SessionReady"] | components["schemas"]["EventDelivery"] | components["schemas"]["EventObserved"] | components["schemas"]["SessionReplayComplete"] | components["schemas"]["EventAcknowledged"] | components["schemas"]["EventAcknowledgementStale"] | components["schemas"]["CallTurn"] | components["schemas"]["CallInterrupted"] | components["schemas"]["RealtimeError"];
        Recipient: {
            address: string;
            kind: "to" | "cc" | "bcc";
            name: string | null;
            reason: string | null;
            status: "received" | "queued" | "sent" | "delivered" | "bounced" | "complained" | "failed";
        };
        ReleaseNumberInput: {
            confirmRelease: true;
            phoneNumberId: string;
        };
        SenderAuthentication: {
            dkim: string;
            dmarc: string;
            domain: string | null;
            spf: string;
        };
        SenderPolicy: {
            allow: string[];
            block: string[];
            mode: "anyone" | "authenticated" | "listed";
        };
        SendMessageInput: {
            attachments?: {
                contentBase64: string;
                contentType: string;
                filename: string;
            }[];
            bcc?: string[];
            cc?: string[];
            html?: string;
            inReplyTo?: string;
            mailboxId: string;
            subject: string;
            text: string;
            to: string[];
        };
        Service: {
            authentication: "none" | "x402-bootstrap" | "bearer" | "sign-in-with-x" | "unavailable";
            available: boolean;
            errors: components["schemas"]["ErrorCode"][];
            extension?: true;
            guide: string;
            inputs: {
                description: string;
                example: unknown;
                format?: string;
                in: "body" | "query" | "path";
                name: string;
                required: boolean;
                type: string;
            }[];
            marketplaceListing: boolean;
            method: "GET" | "POST" | "DELETE";
            nextActions: {
                method: "GET" | "POST" | "DELETE";
                path: string;
                serviceId: components["schemas"]["ServiceId"];
                why: string;
            }[];
            path: string;
            price: components["schemas"]["Price"] | null;
            purpose: string;
            serviceId: components["schemas"]["ServiceId"];
            startHere: boolean;
        };
        ServiceId: "discovery.api" | "discovery.services" | "email.mailbox.create" | "email.mailbox.list" | "email.mailbox.update" | "email.mailbox.delete" | "email.message.send" | "email.message.query" | "phone.number.us.30d" | "phone.number.ca.30d" | "phone.number.renew.30d" | "phone.call.outbound.1m" | "phone.call.outbound.5m" | "phone.call.extend.1m" | "phone.call.inbound.add.10m" | "phone.number.release" | "phone.number.list" | "phone.call.get" | "phone.call.transcript" | "events.realtime-token" | "events.list" | "events.get" | "events.ack" | "events.ack-all" | "domain.register" | "auth.token" | "auth.revoke" | "phone.call.list" | "phone.voice.list" | "events.webhook.set" | "events.webhook.get" | "events.webhook.delete" | "events.webhook.deliveries" | "email.message.attachment" | "email.message.raw" | "payment.status" | "payment.get";
        /** @description @internal */
        SessionAuthenticate: {
            mode?: "deliver" | "observe" | "voice";
            token: string;
            type: "session.authenticate";
        };
        /** @description @internal */
        SessionReady: {
            leaseSeconds: number;
            maxInFlight: number;
            pending: number;
            sessionId: string;
            type: "session.ready";
        };
        /** @description @internal */
        SessionReplayComplete: {
            delivered: number;
            type: "session.replay.complete";
        };
        SetEventWebhookInput: {
            types?: ("email.received" | "phone.call.started" | "phone.call.ended" | "phone.number.expiring" | "phone.number.renewed" | "phone.number.released" | "phone.number.suspended" | "phone.number.reconciled" | "payment.completed" | "payment.failed" | "payment.refunded" | "events.webhook.paused")[];
            url: string;
        };
        SingleMessage: {
            message: components["schemas"]["Message"];
        };
        Transcript: {
            callId: string;
            complete: boolean;
            turns: {
                at: string;
                role: "agent" | "caller" | "system";
                text: string;
            }[];
        };
        UpdateMailboxInput: {
            active?: boolean;
            displayName?: string;
            mailboxId: string;
            outboundSignature?: string;
            senderPolicy?: {
                allow?: string[];
                block?: string[];
                mode?: "anyone" | "authenticated" | "listed";
            };
        };
        Voice: {
            language: string;
            vendor: string;
            voice: string;
        };
        WebhookDelivery: {
            attempt: number;
            createdAt: string;
            deliveryId: string;
            durationMillis: number;
            error: string | null;
            eventId: string;
            nextAttemptAt: string | null;
            outcome: "succeeded" | "failed";
            responseStatus: number | null;
            type: "email.received" | "phone.call.started" | "phone.call.ended" | "phone.number.expiring" | "phone.number.renewed" | "phone.number.released" | "phone.number.suspended" | "phone.number.reconciled" | "payment.completed" | "payment.failed" | "payment.refunded" | "events.webhook.paused";
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
