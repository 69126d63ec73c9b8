package io.cachedhive.hive.trace;

import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Queries over the tables of TPC-DS that read and join what the queries of the benchmark with the number beside them do, in few words: what matters here is
 * which columns of which tables they need, and that the same ones come again with other values.
 */
final class TpcdsStyleQueries
{
    private static final Pattern VALUE = Pattern.compile("\\{(\\d+)\\.\\.(\\d+)}|\\{([^}]*\\|[^}]*)}");

    private static final List<String> TEMPLATES = List.of(
            // 3
            """
            SELECT d_year, i_brand_id, i_brand, sum(ss_ext_sales_price) FROM date_dim, store_sales, item WHERE d_date_sk = ss_sold_date_sk AND ss_item_sk =
            i_item_sk AND i_manufact_id = {1..1000} AND d_moy = {11..12} GROUP BY 1, 2, 3 ORDER BY 1, 4 DESC LIMIT 100""",
            // 7
            """
            SELECT i_item_id, avg(ss_quantity), avg(ss_list_price), avg(ss_coupon_amt), avg(ss_sales_price) FROM store_sales, customer_demographics, date_dim,
            item, promotion WHERE ss_sold_date_sk = d_date_sk AND ss_item_sk = i_item_sk AND ss_cdemo_sk = cd_demo_sk AND ss_promo_sk = p_promo_sk AND cd_gender =
            '{M|F}' AND cd_marital_status = '{M|S|D|W|U}' AND cd_education_status = '{College|Primary|Secondary|Unknown}' AND (p_channel_email = 'N' OR
            p_channel_event = 'N') AND d_year = {1998..2002} GROUP BY 1 ORDER BY 1 LIMIT 100""",
            // 12
            """
            SELECT i_item_id, i_category, i_class, i_current_price, sum(ws_ext_sales_price) FROM web_sales, item, date_dim WHERE ws_item_sk = i_item_sk AND
            i_category IN ('{Sports|Books|Home|Music|Women}', '{Shoes|Jewelry|Men|Electronics|Children}') AND ws_sold_date_sk = d_date_sk AND d_date BETWEEN DATE
            '{1998..2002}-0{1..6}-10' AND DATE '{1998..2002}-0{7..9}-10' GROUP BY 1, 2, 3, 4 ORDER BY 2, 3, 1 LIMIT 100""",
            // 13
            """
            SELECT avg(ss_quantity), avg(ss_ext_sales_price), avg(ss_ext_wholesale_cost), sum(ss_ext_wholesale_cost) FROM store_sales, store,
            customer_demographics, household_demographics, customer_address, date_dim WHERE s_store_sk = ss_store_sk AND ss_sold_date_sk = d_date_sk AND d_year =
            {1998..2002} AND ss_hdemo_sk = hd_demo_sk AND cd_demo_sk = ss_cdemo_sk AND ss_addr_sk = ca_address_sk AND cd_marital_status = '{M|S|D|W|U}' AND
            ss_sales_price BETWEEN 100 AND 150 AND hd_dep_count = {1..3} AND ca_country = 'United States'""",
            // 15
            """
            SELECT ca_zip, sum(cs_sales_price) FROM catalog_sales, customer, customer_address, date_dim WHERE cs_bill_customer_sk = c_customer_sk AND
            c_current_addr_sk = ca_address_sk AND cs_sold_date_sk = d_date_sk AND d_qoy = {1..4} AND d_year = {1998..2002} AND (ca_state IN ('CA', 'WA', 'GA') OR
            cs_sales_price > 500) GROUP BY 1 ORDER BY 1 LIMIT 100""",
            // 19
            """
            SELECT i_brand_id, i_brand, i_manufact_id, i_manufact, sum(ss_ext_sales_price) FROM date_dim, store_sales, item, customer, customer_address, store
            WHERE d_date_sk = ss_sold_date_sk AND ss_item_sk = i_item_sk AND i_manager_id = {1..100} AND d_moy = {11..12} AND d_year = {1998..2002} AND
            ss_customer_sk = c_customer_sk AND c_current_addr_sk = ca_address_sk AND substr(ca_zip, 1, 5) <> substr(s_zip, 1, 5) AND ss_store_sk = s_store_sk
            GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC LIMIT 100""",
            // 21
            """
            SELECT w_warehouse_name, i_item_id, sum(inv_quantity_on_hand) FROM inventory, warehouse, item, date_dim WHERE i_current_price BETWEEN 0.99 AND 1.49
            AND i_item_sk = inv_item_sk AND inv_warehouse_sk = w_warehouse_sk AND inv_date_sk = d_date_sk AND d_date BETWEEN DATE '{1998..2002}-0{1..4}-11' AND
            DATE '{1998..2002}-0{5..7}-11' GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100""",
            // 25
            """
            SELECT i_item_id, s_store_id, sum(ss_net_profit), sum(sr_net_loss) FROM store_sales, store_returns, date_dim, store, item WHERE d_moy = {1..7} AND
            d_year = {1998..2002} AND d_date_sk = ss_sold_date_sk AND i_item_sk = ss_item_sk AND s_store_sk = ss_store_sk AND ss_customer_sk = sr_customer_sk AND
            ss_item_sk = sr_item_sk AND ss_ticket_number = sr_ticket_number GROUP BY 1, 2 ORDER BY 1, 2 LIMIT 100""",
            // 26
            """
            SELECT i_item_id, avg(cs_quantity), avg(cs_list_price), avg(cs_coupon_amt), avg(cs_sales_price) FROM catalog_sales, customer_demographics, date_dim,
            item, promotion WHERE cs_sold_date_sk = d_date_sk AND cs_item_sk = i_item_sk AND cs_bill_cdemo_sk = cd_demo_sk AND cs_promo_sk = p_promo_sk AND
            cd_gender = '{M|F}' AND cd_marital_status = '{M|S|D|W|U}' AND d_year = {1998..2002} GROUP BY 1 ORDER BY 1 LIMIT 100""",
            // 33
            """
            SELECT i_manufact_id, sum(ws_ext_sales_price) FROM web_sales, date_dim, customer_address, item WHERE i_category =
            '{Books|Home|Electronics|Jewelry|Sports}' AND ws_item_sk = i_item_sk AND ws_sold_date_sk = d_date_sk AND d_year = {1998..2002} AND d_moy = {1..7} AND
            ws_bill_addr_sk = ca_address_sk AND ca_gmt_offset = -{5..6} GROUP BY 1 ORDER BY 2 LIMIT 100""",
            // 37
            """
            SELECT i_item_id, i_item_desc, i_current_price FROM item, inventory, date_dim, catalog_sales WHERE i_current_price BETWEEN {10..60} AND {61..90} AND
            inv_item_sk = i_item_sk AND d_date_sk = inv_date_sk AND d_year = {1998..2002} AND d_moy = {1..7} AND i_manufact_id BETWEEN {600..700} AND {701..999}
            AND inv_quantity_on_hand BETWEEN 100 AND 500 AND cs_item_sk = i_item_sk GROUP BY 1, 2, 3 ORDER BY 1 LIMIT 100""",
            // 40
            """
            SELECT w_state, i_item_id, sum(cs_sales_price - coalesce(cr_refunded_cash, 0)) FROM catalog_sales LEFT JOIN catalog_returns ON cs_order_number =
            cr_order_number AND cs_item_sk = cr_item_sk, warehouse, item, date_dim WHERE i_current_price BETWEEN 0.99 AND 1.49 AND i_item_sk = cs_item_sk AND
            cs_warehouse_sk = w_warehouse_sk AND cs_sold_date_sk = d_date_sk AND d_year = {1998..2002} AND d_moy IN ({1..6}, {7..12}) GROUP BY 1, 2 ORDER BY 1, 2
            LIMIT 100""",
            // 42
            """
            SELECT d_year, i_category_id, i_category, sum(ss_ext_sales_price) FROM date_dim, store_sales, item WHERE d_date_sk = ss_sold_date_sk AND ss_item_sk =
            i_item_sk AND i_manager_id = {1..100} AND d_moy = {11..12} AND d_year = {1998..2002} GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 100""",
            // 43
            """
            SELECT s_store_name, s_store_id, d_day_name, sum(ss_sales_price) FROM date_dim, store_sales, store WHERE d_date_sk = ss_sold_date_sk AND s_store_sk =
            ss_store_sk AND s_gmt_offset = -5 AND d_year = {1998..2002} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LIMIT 100""",
            // 45
            """
            SELECT ca_zip, ca_city, sum(ws_sales_price) FROM web_sales, customer, customer_address, date_dim, item WHERE ws_bill_customer_sk = c_customer_sk AND
            c_current_addr_sk = ca_address_sk AND ws_item_sk = i_item_sk AND ws_sold_date_sk = d_date_sk AND d_qoy = {1..2} AND d_year = {1998..2002} GROUP BY 1,
            2 ORDER BY 1, 2 LIMIT 100""",
            // 46
            """
            SELECT c_last_name, c_first_name, ca_city, ss_ticket_number, sum(ss_coupon_amt), sum(ss_net_profit) FROM store_sales, date_dim, store,
            household_demographics, customer_address, customer WHERE ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk AND ss_hdemo_sk = hd_demo_sk AND
            ss_addr_sk = ca_address_sk AND ss_customer_sk = c_customer_sk AND (hd_dep_count = {0..9} OR hd_vehicle_count = {0..4}) AND d_dow IN (6, 0) AND d_year
            IN ({1998..2000}, {2001..2002}) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4 LIMIT 100""",
            // 48
            """
            SELECT sum(ss_quantity) FROM store_sales, store, customer_demographics, customer_address, date_dim WHERE s_store_sk = ss_store_sk AND ss_sold_date_sk
            = d_date_sk AND d_year = {1998..2002} AND cd_demo_sk = ss_cdemo_sk AND cd_marital_status = '{M|S|D|W|U}' AND ss_addr_sk = ca_address_sk AND ca_state
            IN ('{CO|OH|TX|MN|KS|IL|GA|VA}', '{OR|KY|NY|NJ|MS|IN}') AND ss_net_profit BETWEEN 0 AND 2000""",
            // 52
            """
            SELECT d_year, i_brand_id, i_brand, sum(ss_ext_sales_price) FROM date_dim, store_sales, item WHERE d_date_sk = ss_sold_date_sk AND ss_item_sk =
            i_item_sk AND i_manager_id = {1..100} AND d_moy = {11..12} AND d_year = {1998..2002} GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 100""",
            // 53
            """
            SELECT i_manufact_id, d_qoy, sum(ss_sales_price) FROM item, store_sales, date_dim, store WHERE ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk
            AND ss_store_sk = s_store_sk AND d_month_seq BETWEEN {1176..1212} AND {1213..1224} AND i_category IN ('{Books|Children|Electronics}',
            '{Women|Music|Men}') GROUP BY 1, 2 ORDER BY 3 LIMIT 100""",
            // 55
            """
            SELECT i_brand_id, i_brand, sum(ss_ext_sales_price) FROM date_dim, store_sales, item WHERE d_date_sk = ss_sold_date_sk AND ss_item_sk = i_item_sk AND
            i_manager_id = {1..100} AND d_moy = {11..12} AND d_year = {1998..2002} GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 100""",
            // 60
            """
            SELECT i_item_id, sum(cs_ext_sales_price) FROM catalog_sales, date_dim, customer_address, item WHERE i_category = '{Children|Men|Music|Jewelry|Shoes}'
            AND cs_item_sk = i_item_sk AND cs_sold_date_sk = d_date_sk AND d_year = {1998..2002} AND d_moy = {8..10} AND cs_bill_addr_sk = ca_address_sk AND
            ca_gmt_offset = -{5..6} GROUP BY 1 ORDER BY 1 LIMIT 100""",
            // 61
            """
            SELECT sum(ss_ext_sales_price) FROM store_sales, store, promotion, date_dim, customer, customer_address, item WHERE ss_sold_date_sk = d_date_sk AND
            ss_store_sk = s_store_sk AND ss_promo_sk = p_promo_sk AND ss_customer_sk = c_customer_sk AND ca_address_sk = c_current_addr_sk AND ss_item_sk =
            i_item_sk AND ca_gmt_offset = -{5..7} AND i_category = '{Books|Home|Electronics|Jewelry|Sports}' AND (p_channel_dmail = 'Y' OR p_channel_tv = 'Y') AND
            d_year = {1998..2002} AND d_moy = {11..12}""",
            // 62
            """
            SELECT w_warehouse_name, sm_type, web_name, count(*) FROM web_sales, warehouse, ship_mode, web_site, date_dim WHERE d_month_seq BETWEEN {1176..1200}
            AND {1201..1224} AND ws_ship_date_sk = d_date_sk AND ws_warehouse_sk = w_warehouse_sk AND ws_ship_mode_sk = sm_ship_mode_sk AND ws_web_site_sk =
            web_site_sk GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LIMIT 100""",
            // 65
            """
            SELECT s_store_name, i_item_desc, revenue FROM store, item, (SELECT ss_store_sk, ss_item_sk, sum(ss_sales_price) revenue FROM store_sales, date_dim
            WHERE ss_sold_date_sk = d_date_sk AND d_month_seq BETWEEN {1176..1212} AND {1213..1224} GROUP BY 1, 2) WHERE ss_store_sk = s_store_sk AND ss_item_sk =
            i_item_sk ORDER BY 3, 1, 2 LIMIT 100""",
            // 73
            """
            SELECT c_last_name, c_first_name, ss_ticket_number, count(*) FROM store_sales, date_dim, store, household_demographics, customer WHERE ss_sold_date_sk
            = d_date_sk AND ss_store_sk = s_store_sk AND ss_hdemo_sk = hd_demo_sk AND ss_customer_sk = c_customer_sk AND d_dom BETWEEN 1 AND 2 AND
            hd_vehicle_count > 0 AND hd_buy_potential = '{>10000|Unknown|1001-5000|501-1000}' AND d_year IN ({1998..2000}, {2001..2002}) GROUP BY 1, 2, 3 ORDER BY
            4 DESC LIMIT 100""",
            // 79
            """
            SELECT c_last_name, c_first_name, s_city, ss_ticket_number, sum(ss_coupon_amt), sum(ss_net_profit) FROM store_sales, date_dim, store,
            household_demographics, customer WHERE ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk AND ss_hdemo_sk = hd_demo_sk AND ss_customer_sk =
            c_customer_sk AND (hd_dep_count = {0..9} OR hd_vehicle_count > {0..3}) AND d_dow = 1 AND d_year = {1998..2002} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3
            LIMIT 100""",
            // 82
            """
            SELECT i_item_id, i_item_desc, i_current_price FROM item, inventory, date_dim, store_sales WHERE i_current_price BETWEEN {10..60} AND {61..90} AND
            inv_item_sk = i_item_sk AND d_date_sk = inv_date_sk AND d_year = {1998..2002} AND d_moy = {1..7} AND inv_quantity_on_hand BETWEEN 100 AND 500 AND
            ss_item_sk = i_item_sk GROUP BY 1, 2, 3 ORDER BY 1 LIMIT 100""",
            // 85
            """
            SELECT r_reason_desc, avg(ws_quantity), avg(wr_refunded_cash), avg(wr_fee) FROM web_sales, web_returns, web_page, customer_demographics, date_dim,
            reason WHERE ws_web_page_sk = wp_web_page_sk AND ws_item_sk = wr_item_sk AND ws_order_number = wr_order_number AND ws_sold_date_sk = d_date_sk AND
            d_year = {1998..2002} AND cd_demo_sk = wr_refunded_cdemo_sk AND r_reason_sk = wr_reason_sk GROUP BY 1 ORDER BY 1 LIMIT 100""",
            // 88
            """
            SELECT count(*) FROM store_sales, household_demographics, time_dim, store WHERE ss_sold_time_sk = t_time_sk AND ss_hdemo_sk = hd_demo_sk AND
            ss_store_sk = s_store_sk AND t_hour = {8..12} AND t_minute >= 30 AND hd_dep_count = {0..4}""",
            // 89
            """
            SELECT i_category, i_class, i_brand, s_store_name, d_moy, sum(ss_sales_price) FROM item, store_sales, date_dim, store WHERE ss_item_sk = i_item_sk AND
            ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk AND d_year = {1998..2002} AND i_category IN ('{Books|Electronics|Sports}',
            '{Men|Jewelry|Women}') GROUP BY 1, 2, 3, 4, 5 ORDER BY 6 LIMIT 100""",
            // 91
            """
            SELECT cc_name, cc_manager, sum(cr_net_loss) FROM call_center, catalog_returns, date_dim, customer, customer_demographics WHERE cr_call_center_sk =
            cc_call_center_sk AND cr_returned_date_sk = d_date_sk AND cr_returning_customer_sk = c_customer_sk AND cd_demo_sk = c_current_cdemo_sk AND d_year =
            {1998..2002} AND d_moy = {11..12} GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 100""",
            // 96
            """
            SELECT count(*) FROM store_sales, household_demographics, time_dim, store WHERE ss_sold_time_sk = t_time_sk AND ss_hdemo_sk = hd_demo_sk AND
            ss_store_sk = s_store_sk AND t_hour = {8..20} AND t_minute >= 30 AND hd_dep_count = {0..7}""",
            // 97
            """
            SELECT count(*), sum(CASE WHEN s.customer IS NULL THEN 1 ELSE 0 END) FROM (SELECT DISTINCT ss_customer_sk customer, ss_item_sk item FROM store_sales,
            date_dim WHERE ss_sold_date_sk = d_date_sk AND d_month_seq BETWEEN {1176..1212} AND {1213..1224}) s FULL JOIN (SELECT DISTINCT cs_bill_customer_sk
            customer, cs_item_sk item FROM catalog_sales, date_dim WHERE cs_sold_date_sk = d_date_sk AND d_month_seq BETWEEN {1176..1212} AND {1213..1224}) c ON
            s.customer = c.customer AND s.item = c.item""",
            // 98
            """
            SELECT i_item_id, i_category, i_class, i_current_price, sum(ss_ext_sales_price) FROM store_sales, item, date_dim WHERE ss_item_sk = i_item_sk AND
            i_category IN ('{Sports|Books|Home}', '{Music|Women|Shoes}') AND ss_sold_date_sk = d_date_sk AND d_year = {1998..2002} AND d_moy = {1..7} GROUP BY 1,
            2, 3, 4 ORDER BY 2, 3, 1 LIMIT 100""",
            // 99
            """
            SELECT w_warehouse_name, sm_type, cc_name, count(*) FROM catalog_sales, warehouse, ship_mode, call_center, date_dim WHERE d_month_seq BETWEEN
            {1176..1200} AND {1201..1224} AND cs_ship_date_sk = d_date_sk AND cs_warehouse_sk = w_warehouse_sk AND cs_ship_mode_sk = sm_ship_mode_sk AND
            cs_call_center_sk = cc_call_center_sk GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LIMIT 100""");

    private TpcdsStyleQueries() {}

    /**
     * Any of them, with any values.
     */
    static String next(Random random)
    {
        String template = TEMPLATES.get(random.nextInt(TEMPLATES.size()));
        return VALUE.matcher(template).replaceAll(found -> Matcher.quoteReplacement(value(found.group(1), found.group(2), found.group(3), random)));
    }

    private static String value(String first, String last, String choices, Random random)
    {
        if (choices != null) {
            String[] all = choices.split("\\|");
            return all[random.nextInt(all.length)];
        }
        int low = Integer.parseInt(first);
        return Integer.toString(low + random.nextInt(Integer.parseInt(last) - low + 1));
    }
}
