create table sales_stops (
      service text,
      at bigint not null,
      reason text not null,
      constraint sales_stops_key primary key (service)
    );

