package io.cachedhive.plugin.config;

import io.airlift.configuration.Config;
import io.airlift.configuration.ConfigDescription;
import jakarta.validation.constraints.DecimalMin;

/**
 * What the object store and the network cost, in any one currency.
 */
public class PricesConfig
{
    private double pricePerThousandRequests = 0.0004;
    private double pricePerGigabyte;
    private double crossZonePricePerGigabyte = 0.02;

    @DecimalMin("0")
    public double getPricePerThousandRequests()
    {
        return pricePerThousandRequests;
    }

    @Config("cachedhive.price-per-thousand-requests")
    @ConfigDescription("Price of a thousand GET requests to the object store, for the columns saved_cost and spent_cost of cache.tables")
    public PricesConfig setPricePerThousandRequests(double pricePerThousandRequests)
    {
        this.pricePerThousandRequests = pricePerThousandRequests;
        return this;
    }

    @DecimalMin("0")
    public double getPricePerGigabyte()
    {
        return pricePerGigabyte;
    }

    @Config("cachedhive.price-per-gigabyte")
    @ConfigDescription("Price of a gigabyte read from the object store, without its requests, for the columns saved_cost and spent_cost of cache.tables")
    public PricesConfig setPricePerGigabyte(double pricePerGigabyte)
    {
        this.pricePerGigabyte = pricePerGigabyte;
        return this;
    }

    @DecimalMin("0")
    public double getCrossZonePricePerGigabyte()
    {
        return crossZonePricePerGigabyte;
    }

    @Config("cachedhive.cross-zone-price-per-gigabyte")
    @ConfigDescription("Price of a gigabyte transferred between zones, subtracted in the column saved_cost of cache.tables")
    public PricesConfig setCrossZonePricePerGigabyte(double crossZonePricePerGigabyte)
    {
        this.crossZonePricePerGigabyte = crossZonePricePerGigabyte;
        return this;
    }
}
